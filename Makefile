# fednode: make demo shows the main job, make test proves it.

GO      ?= go
BIN     := bin/fednode
FUZZTIME ?= 10s

.PHONY: all build demo test test-unit test-race test-data test-process lint race fuzz sim bench gen clean

all: build

build: ## the daemon and command line, into bin/
	$(GO) build -trimpath -o $(BIN) ./cmd/fednode

demo: build ## three organisations, one query, results in your terminal
	$(BIN) testnet up --for 45s

test: lint test-unit race test-data test-process fuzz ## everything CI runs

test-unit: ## unit, property and script tests
	$(GO) test ./...

race: ## the concurrent packages under the race detector
	$(GO) test -race -short ./node/... ./storage/... ./testnet/...

test-data: build ## the public data sets against their ground truth, where they are at hand
	@$(GO) test -count=1 -run 'TestGroundTruth' ./testnet/dataset

test-process: build ## real daemon processes, killed and restarted
	$(GO) test -count=1 -run 'TestProcess' -timeout 10m ./testnet/proc

lint: ## format, vet, layers
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not gofmt-ed:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...

fuzz: ## a short seeded slice of every fuzz target; FUZZTIME=10m for a long one
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p 2>/dev/null | grep '^Fuzz' || true); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p >/dev/null; done; done

bench: build ## engine, wire and log against a plain loop in the same run
	$(BIN) bench

clean:
	rm -rf bin
