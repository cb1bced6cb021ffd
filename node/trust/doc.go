// Package trust decides who is who: the keys of an organisation, what they sign, and whether to believe it.
//
// # Three tiers
//
// The root key of an organisation is kept offline and signs nothing but [KeyStatement]s, which name signing keys for
// one [Role] each (nodes, deploy, contracts) and for a limited time, and [Revocation]s. The nodes key signs a
// [NodeCertificate] for each node key; a node key is the libp2p identity of one daemon. Everything signed is a
// [Signed] envelope: deterministic CBOR under a context string, so that a signature made for one purpose is never
// valid for another. An envelope carries the root's statement about the key that signed it, so whoever knows the root
// can verify it alone; a partner imports only the organisation's name and root, and rotated keys need no second
// import.
//
// # Use
//
//	dir := trust.Dir{Path: d, Credentials: os.Getenv("CREDENTIALS_DIRECTORY")}
//	id, err := dir.LoadIdentity()                // node key, certificate, own organisation
//	reg, err := dir.LoadRegistry(trust.DefaultSkew)
//	member, err := reg.VerifyCertificate(envelope, time.Now())
//	env, err := id.Deploy.Sign(trust.ContextDescriptor, payload, time.Now())
//	signer, err := reg.Verify(env, trust.ContextDescriptor, trust.RoleDeploy, time.Now())
//
// # Revocation
//
// "What K signed before T is void." Revoking a signing key up to its expiry ends it; revoking the nodes key up to now
// and certifying the good nodes again removes the others; a revoked node key shuts out the certificates issued for it
// before T. Revocations are numbered and only ever added.
//
// # Concurrency, limits
//
// [Registry] may be used by any number of goroutines; everything else belongs to one. The package reads and writes
// files, has no clock (times are arguments) and no network. Every input is limited in size, depth and count; errors a
// person reads are an [*Error] with place, expected, got and remedy.
package trust
