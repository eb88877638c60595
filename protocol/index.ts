/**
 * The wire contract of Soda Scheduler: HTTP bodies, session frames, and the session machine. What
 * bodies and frames are validated with is apart, in `schemas.ts`: it loads zod, which few need.
 */
export type * from './api/admin.ts';
export type * from './api/alerts.ts';
export type * from './api/audit.ts';
export * from './asyncflow.ts';
export type * from './api/bookings.ts';
export type * from './api/bulk.ts';
export type * from './api/events.ts';
export type * from './jobs/backfill.ts';
export type * from './jobs/calendars.ts';
export * from './certificates.ts';
export * from './close-codes.ts';
export * from './csv.ts';
export * from './event-kinds.ts';
export type * from './api/find.ts';
export type * from './api/health.ts';
export type * from './api/load.ts';
export type * from './api/reports.ts';
export type * from './api/tasks.ts';
export * from './json/differences.ts';
export * from './json/scan.ts';
export * from './json/slice.ts';
export * from './jobs/fires.ts';
export type * from './jobs/jobs.ts';
export * from './jobs/zones.ts';
export * from './known-names.ts';
export * from './limits.ts';
export type * from './api/logs.ts';
export type * from './messages.ts';
export * from './paths.ts';
export * from './json/raw-json.ts';
export * from './session.ts';
export * from './spans.ts';
export * from './trace-context.ts';
export * from './json/visible.ts';
export type * from './api/types.ts';
export type * from './api/why.ts';
export * from './words.ts';
