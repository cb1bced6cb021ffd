# fednode: make demo shows the main job, make test proves it.

GO       ?= go
BIN      := bin/fednode
# How many inputs each fuzz target tries, and how many cases each property tries in make sim. go test takes a time as well, but
# may then count it as a failure that the time ends while an input is being tried.
FUZZTIME ?= 50000x
CHECKS   ?= 5000
# Seeds that make sim breaks simulated federations with, from SEED on.
SEEDS    ?= 1000
SEED     ?= 1

# How long the tests of one package may take before the run ends with a dump of what hangs.
HANG     ?= 6m

# Packages whose tests start daemons or databases, or read data sets, have targets of their own.
UNIT = $$($(GO) list ./... | grep -v -e /testnet/proc -e /testnet/dataset -e /testnet/sim/broken -e /testnet/postgres)
# Where goroutines are: the packages below start none, which a test of package testnet holds them to.
RACE = ./node/... ./storage/...

.PHONY: all build demo test test-unit test-data test-process test-postgres test-faults test-broken lint race fuzz sim bench evaluate clean

all: build

build: ## the daemon and command line, into bin/
	$(GO) build -trimpath -o $(BIN) ./cmd/fednode

demo: build ## three organisations, one query, results in your terminal
	$(BIN) testnet up --for 45s

test: build lint test-unit race test-data test-process test-postgres ## everything CI runs
	@$(MAKE) --no-print-directory fuzz FUZZTIME=5000x

test-unit: ## unit, property and script tests
	$(GO) test -timeout $(HANG) $(UNIT)
	$(GO) test -run TestRulesRead ./testnet/sim/broken

race: ## the concurrent packages under the race detector; -short tries fewer cases, and leaves out nothing
	$(GO) test -race -short -timeout $(HANG) $(RACE)

test-data: build ## the public data sets against their ground truth, where they are at hand
	$(GO) test -count=1 -run 'TestGroundTruth' -timeout 10m ./testnet/dataset

test-process: build ## real daemon processes: killed, restarted, damaged, cut off from each other
	$(GO) test -count=1 -run 'TestProcess' -timeout 10m ./testnet/proc

test-postgres: ## the PostgreSQL sink against a server of its own, with the connection cut and the daemon killed
	@if [ -n "$$FEDNODE_TEST_POSTGRES" ] || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null; then \
	  $(GO) test -count=1 -timeout $(HANG) ./testnet/postgres; \
	 else echo "not run: PostgreSQL is not installed"; fi

test-faults: build ## every scenario of faults on real daemons, as root again in network namespaces; half an hour
	$(BIN) testnet test testnet/scenarios/*.scenario
	@if [ "$$(id -u)" = 0 ] && [ -c /dev/net/tun ]; then $(BIN) testnet test --mode netns testnet/scenarios/*.scenario; \
	 else echo "not run: network namespaces need root and /dev/net/tun"; fi

evaluate: build ## what failures cost, simulated and on real daemons: bin/evaluation/evaluation.html; at most 40 minutes
	$(BIN) testnet evaluate --processes --out bin/evaluation

lint: ## format and vet; the layers are a test of package testnet
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not gofmt-ed:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...

fuzz: ## a slice of every fuzz target; FUZZTIME=10000000x for a long one
	@set -e; out=$$(mktemp); trap 'rm -f $$out' EXIT; for f in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
	  p=./$$(dirname $$f); \
	  for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$f); do \
	    echo "fuzz $$p $$t"; $(GO) test -run '^$$' -fuzz "^$$t$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p >$$out 2>&1 || { cat $$out; exit 1; }; \
	  done; done

sim: build ## simulated federations broken by seed, every property with many more cases; CHECKS=100000 SEEDS=100000 for a night
	$(BIN) testnet simulate --runs $(SEEDS) --seed $(SEED)
	@set -e; for p in $$($(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... | grep pgregory.net/rapid | cut -d' ' -f1); do \
	  $(GO) test -count=1 -timeout 0 $$p -rapid.checks=$(CHECKS); done

test-broken: ## the simulator notices each rule that is taken out of the automaton
	$(GO) test -count=1 -timeout 30m ./testnet/sim/broken

bench: build ## engine, wire and log against a plain loop in the same run
	$(BIN) bench

clean:
	rm -rf bin
