/** The schemas that bodies and frames are validated with, and OpenAPI is made from. */
export * from './api/admin.ts';
export * from './api/alerts.ts';
export * from './api/audit.ts';
export * from './jobs/backfill.ts';
export * from './jobs/calendars.ts';
export * from './api/events.ts';
export * from './jobs/jobs.ts';
export * from './api/find.ts';
export * from './api/health.ts';
export * from './api/load.ts';
export * from './api/reports.ts';
export * from './api/bulk.ts';
export * from './api/logs.ts';
export * from './api/tasks.ts';
export * from './messages.ts';
export * from './api/types.ts';
export * from './api/why.ts';
