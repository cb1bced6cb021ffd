package op

// Kinds returns every kind of operator in the order in which the documentation lists them. A new one joins by one line
// here, and by one in the conformance suite's table.
func Kinds() []Kind {
	return []Kind{
		filterKind(),
		mapKind(),
		unionKind(),
		aggregateKind(),
		joinKind(),
		routerKind(),
		distinctKind(),
		topKind(),
		sortKind(),
		sampleKind(),
		limitKind(),
		dedupKind(),
		throttleKind(),
		overKind(),
		patternKind(),
		tableKind(),
		lookupKind(),
	}
}

// ByName returns the kind that a declaration names.
func ByName(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}
