package replica

// limitQuery is a join that holds few rows: tentative ones that are more than stable ones bring a fork to its limit.
const limitQuery = head + `
[operators.pairs]
kind = "join"
left = "a"
right = "b"
on = ["v"]
within = "300ms"
limit = 20
columns = { lk = "left.k", rk = "right.k" }

[outputs.pairs]
input = "pairs"
connector = "node"
`

// plainQuery gives every row of both inputs.
const plainQuery = head + `
[operators.both]
kind = "union"
inputs = ["a", "b"]

[outputs.both]
input = "both"
connector = "node"
`

// selfQuery has one input that enters two SUnions.
const selfQuery = head + `
[operators.both]
kind = "union"
inputs = ["a", "b"]

[operators.pairs]
kind = "join"
left = "both"
right = "a"
on = ["v"]
within = "300ms"
columns = { lk = "left.k", rk = "right.k" }

[outputs.pairs]
input = "pairs"
connector = "node"
`

// apartQuery has two outputs that have nothing to do with each other.
const apartQuery = head + `
[operators.as]
kind = "filter"
input = "a"
where = "v >= 0"

[operators.bs]
kind = "filter"
input = "b"
where = "v >= 0"

[outputs.as]
input = "as"
connector = "node"

[outputs.bs]
input = "bs"
connector = "node"

[fragments.core]
operators = ["as", "bs"]
place = { org = "north", node = "n1" }
`
