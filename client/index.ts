/** The public surface: submit tasks, follow and steer them, verify callbacks. */
export type {
  AlertListQuery,
  AlertMessage,
  AlertReceiverRequest,
  AlertReceiverView,
  AlertRuleRequest,
  AlertRuleView,
  AlertSaid,
  AlertTestView,
  AlertView,
  AttemptView,
  AuditQuery,
  AuditVerified,
  AuditView,
  BlackoutsRequest,
  BlackoutsView,
  BackfillPreview,
  BulkPreview,
  BulkRequest,
  CalendarRequest,
  CalendarSummary,
  CalendarView,
  CallbackBody,
  CopyRequest,
  CountQuery,
  DailyQuery,
  BookingList,
  BookingListQuery,
  BookingRequest,
  BookingResponse,
  BookingView,
  DailyReport,
  ErrorList,
  ErrorQuery,
  EventQuery,
  EventPage,
  EventView,
  ExecutorChange,
  ExecutorView,
  HealthView,
  HistoryPage,
  HistoryQuery,
  JobRequest,
  JobRunRequest,
  JobRunResponse,
  JobSummary,
  JobVersions,
  JobView,
  LimitRequest,
  LimitView,
  FreeWindow,
  FoundLogLine,
  LoadPoint,
  LoadQuery,
  LoadReport,
  LogLine,
  LogSearchQuery,
  ListQuery,
  NamespaceSettings,
  NamespaceView,
  NextFire,
  OccurrenceView,
  OperationSummary,
  OperationView,
  PatchRequest,
  PauseCommandResponse,
  PauseRequest,
  Problem,
  RecentQuery,
  RecentReport,
  RecentType,
  ReportField,
  ResumeRequest,
  SkipRequest,
  SubmitResponse,
  TaskCommandResponse,
  TaskCount,
  TaskInfo,
  TaskList,
  TaskSummary,
  TaskView,
  TokenMade,
  TokenRequest,
  TokenView,
  TypeDefinition,
  TypeOverrideRequest,
  TypePauseRequest,
  TriggerView,
  TypeView,
  UsageFigures,
  UsageQuery,
  UsageReport,
  UsageRow,
  UserInfo,
  ViewQuery,
  ViewView,
  Whoami,
  WhyView,
} from '@soda-scheduler/protocol';
export { rawJson } from '@soda-scheduler/protocol';
export type { RawJson } from '@soda-scheduler/protocol';
export { exactJson } from './exact-json.ts';
export { CallbackRefused, verifyCallback } from './callback.ts';
export { createClient } from './client.ts';
export type { ClientOptions, SodaClient } from './client.ts';
export { SodaError } from './soda-error.ts';
export type { AbsenceOptions, CallOptions } from './api-call.ts';
export type { DrainOptions, ExecutorCalls, ExecutorFilter } from './executors/executors.ts';
export type { RollingOptions } from './executors/rolling-drain.ts';
export type { DrainProgress, DrainStep } from './executors/rollout.ts';
export type { AlertCalls } from './calls/alerts.ts';
export type { EventCalls, EventOptions } from './calls/events.ts';
export type { FindCalls } from './calls/find.ts';
export type { BookingCalls, BookingFilter } from './executors/bookings.ts';
export type { Backfill, JobCalls, JobFilter, OccurrenceFilter } from './calls/jobs.ts';
export type { HealthCalls } from './calls/health.ts';
export type { LimitCalls } from './calls/limits.ts';
export type { LogCalls, LogOptions, LogQuery } from './calls/logs.ts';
export type { ReportCalls } from './calls/reports.ts';
export type { PauseCalls, ScopedPause } from './calls/pauses.ts';
export type { ViewCalls } from './calls/views.ts';
export type { NamespaceCalls } from './calls/namespaces.ts';
export type { AuditCalls } from './calls/audit.ts';
export type { TokenCalls } from './calls/tokens.ts';
export type { Bulk, OperationCalls, OperationWaitOptions } from './calls/operations.ts';
export type { AtVersion, TypeCalls } from './calls/types.ts';
export type { PatientOptions, WaitOptions } from './waiting.ts';
