/** The wire contract of Soda Scheduler: HTTP bodies, session frames, and the session machine. */
export * from './admin-api.ts';
export * from './asyncflow.ts';
export * from './close-codes.ts';
export * from './http-api.ts';
export * from './json-scan.ts';
export * from './json-slice.ts';
export * from './known-names.ts';
export * from './limits.ts';
export * from './messages.ts';
export * from './paths.ts';
export * from './raw-json.ts';
export * from './session.ts';
