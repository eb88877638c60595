/**
 * What the master holds at most, with unit and default. Here stands what cannot be set; the settings
 * (windows, lanes, callbacks in flight) are in `defaultPolicy` of `state.ts`, and what both ends of
 * the wire agree on is in `protocol/limits.ts`. Beyond a bound something definite happens, and it is
 * said here what: nothing grows in silence.
 */

/** Bytes of ended tasks that go along with callbacks in flight; the rest is read when its turn comes. */
export const NOTIFYING_BYTES_MAX = 32 * 1024 * 1024;
