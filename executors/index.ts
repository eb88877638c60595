/**
 * Ready executors for Soda Scheduler, as handlers to be put into an executor of one's own; `soda-executors` runs them
 * by a configuration. And what they stand on, for executors that fetch by URLs of others or keep files for a while.
 */
export { commandHandler } from './shell-command/command.ts';
export { commandSettings, type CommandSettings } from './shell-command/settings.ts';
export { requestHandler } from './http-request/request.ts';
export { readCredentials, type Credential } from './http-request/credentials.ts';
export { requestSettings, type RequestSettings } from './http-request/params.ts';
export { scriptHandler } from './script/script.ts';
export { scriptSettings, type ScriptSettings } from './script/settings.ts';
export {
  connectionProblem,
  type GuardedAnswer,
  type GuardedRequest,
  GuardedRequests,
  type GuardedRequestsOptions,
  readBounded,
  retryAfterMs,
} from './requests/guarded-requests.ts';
export { addressList, hostPattern } from './requests/host-pattern.ts';
export { Scratch } from './scratch.ts';
