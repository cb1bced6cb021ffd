package flow

import (
	"fmt"
	"testing"

	"fednode/dcaa"
)

// TestDownBetween shows that a consumer who takes news rarely learns that the session with a node ended in between, and is
// not told of a node that was only silent.
func TestDownBetween(t *testing.T) {
	said := func(string) (dcaa.StreamStatus, bool) { return dcaa.StreamStatus{LastID: 7}, true }
	for _, c := range []struct {
		name string
		news []News // after a first one that has been taken: up, life 1
		want News
	}{
		{"nothing", nil, News{}},
		{"a heartbeat", []News{{Up: true, Life: 1}}, News{Up: true, Life: 1}},
		{"down", []News{{}}, News{}},
		{"silent for a while", []News{{}, {Up: true, Life: 1}}, News{Up: true, Life: 1}},
		{"down and up", []News{{}, {Up: true, Life: 2}}, News{Up: true, Life: 2, Anew: true}},
		{"down and up, and a heartbeat", []News{{}, {Up: true, Life: 2}, {Up: true, Life: 2}}, News{Up: true, Life: 2, Anew: true}},
		{"another life, told of when it was up already", []News{{Up: true, Life: 2}}, News{Up: true, Life: 2, Anew: true}},
		{"lives that are not known", []News{{}, {Up: true}}, News{Up: true, Anew: true}},
	} {
		b := NewNewsBox()
		b.Note(News{Name: "n", Up: true, Life: 1, Said: said})
		if first := b.Take(); len(first) != 1 || first[0].Anew {
			t.Fatalf("%s: the first news are %+v", c.name, first)
		}
		for _, n := range c.news {
			n.Name = "n"
			b.Note(n)
		}
		news := b.Take()
		if len(c.news) == 0 {
			if len(news) != 0 {
				t.Errorf("%s: %+v", c.name, news)
			}
			continue
		}
		if len(news) != 1 || news[0].Up != c.want.Up || news[0].Life != c.want.Life || news[0].Anew != c.want.Anew {
			t.Errorf("%s: %+v, want %+v", c.name, news, c.want)
		}
		b.Note(News{Name: "n", Up: true, Life: c.want.Life})
		if again := b.Take(); c.want.Up && again[0].Anew {
			t.Errorf("%s: told twice", c.name)
		}
	}
}

// TestNoteNeverBlocks shows that news can be noted while nobody takes any, for ever: who tells them holds a lock.
func TestNoteNeverBlocks(t *testing.T) {
	b := NewNewsBox()
	for k := range 10_000 {
		b.Note(News{Name: fmt.Sprint("n", k%3), Up: k%2 == 0})
		b.Signal()
	}
	if news := b.Take(); len(news) != 3 {
		t.Fatalf("%d news wait, want one a node", len(news))
	}
}
