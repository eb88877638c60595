/** The schemas that bodies and frames are validated with, and OpenAPI is made from. */
export * from './admin-api.ts';
export * from './audit/audit-api.ts';
export * from './find/find-api.ts';
export * from './bulk-api.ts';
export * from './http-api.ts';
export * from './messages.ts';
export * from './type-api.ts';
