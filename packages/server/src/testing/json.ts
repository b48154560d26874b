/** What came back: a test looks in it for what it expects, and fails where that is not there. */
// biome-ignore lint/suspicious/noExplicitAny: a test that trusts in types looks at nothing.
export type Json = any
