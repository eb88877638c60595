/** Pages that few people open, or seldom: loaded once one of them is. */
export { AlertsPage } from './alerts/alerts.tsx';
export { ReceiversPage } from './alerts/receivers.tsx';
export { RulesPage } from './alerts/rules.tsx';
export { DefinePage } from './fleet/define.tsx';
export { LimitPage } from './limits/limit.tsx';
export { LimitsPage } from './limits/limits.tsx';
export { OneAtATimePage } from './limits/one-at-a-time.tsx';
export { PausesPage } from './limits/pauses.tsx';
export { AuditPage } from './audit.tsx';
export { NamespacesPage } from './namespaces.tsx';
export { OperationPage } from './operation.tsx';
export { OperationsPage } from './operations.tsx';
export { ReportsPage } from './reports/reports.tsx';
export { TokensPage } from './tokens.tsx';
export { NewTaskPage } from './tasks/new-task.tsx';
export { CopyTaskPage } from './tasks/copy-task.tsx';
