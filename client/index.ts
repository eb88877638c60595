/** The public surface: submit tasks, follow and steer them, verify callbacks. */
export type {
  AttemptView,
  AuditQuery,
  AuditVerified,
  AuditView,
  BulkPreview,
  BulkRequest,
  CallbackBody,
  CopyRequest,
  CountQuery,
  ErrorList,
  ErrorQuery,
  ExecutorChange,
  ExecutorView,
  LimitRequest,
  LimitView,
  ListQuery,
  NamespaceSettings,
  NamespaceView,
  OperationSummary,
  OperationView,
  PatchRequest,
  PauseCommandResponse,
  PauseRequest,
  Problem,
  ResumeRequest,
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
  TypeView,
  UserInfo,
  ViewQuery,
  ViewView,
  Whoami,
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
export type { FindCalls } from './find/find.ts';
export type { LimitCalls, PauseCalls, ScopedPause } from './limits.ts';
export type { ViewCalls } from './find/views.ts';
export type { NamespaceCalls } from './namespaces.ts';
export type { AuditCalls, TokenCalls } from './tokens.ts';
export type { Bulk, OperationCalls, OperationWaitOptions } from './operations/operations.ts';
export type { AtVersion, TypeCalls } from './types.ts';
export type { PatientOptions, WaitOptions } from './waiting.ts';
