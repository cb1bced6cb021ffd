package config

import (
	"fednode/query/spec"
)

// elsewhere checks the streams that another node of the organisation has: connector = "node" in node.toml. They are
// declared for their exports: a replica that runs here on such a stream lets its results leave only as far as this node's
// exports of it do.
func (c *Config) elsewhere(p *spec.Problems) {
	for _, s := range c.Streams {
		if own := c.Node.Org + "/" + s.Name; s.Foreign != "" && s.Foreign != own {
			p.Add(s.Pos, "streams."+s.Name, `write stream = "`+own+`"; what partners have is read by queries`,
				"`%s` is not this stream at another node of %s", s.Foreign, c.Node.Org)
		}
	}
}
