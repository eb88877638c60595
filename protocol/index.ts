export * from './close-codes.ts';
export * from './http-api.ts';
export * from './limits.ts';
export * from './messages.ts';
export * from './session.ts';
