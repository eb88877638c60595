/** Which pages there are: what is not here does not exist, neither in the menu nor for the keyboard. */
import type { Whoami } from '@soda-scheduler/protocol';
import type { ComponentChildren } from 'preact';
import { may, type RouteName } from '../api/me.ts';
import { CallbacksPage } from '../pages/callbacks.tsx';
import { ExecutorsPage } from '../pages/fleet/executors.tsx';
import { FailedPage } from '../pages/failed.tsx';
import { OverviewPage } from '../pages/overview.tsx';
import { TasksPage } from '../pages/tasks/tasks.tsx';
import { TypesPage } from '../pages/fleet/types.tsx';
import { t, type TextName, wordOf } from '../words/words.ts';
import { later } from '../parts/later.tsx';
import { Head } from '../parts/page.tsx';
import type { Place } from './place.ts';

const details = () => import('../pages/details.ts');
const ExecutorPage = later(async () => (await details()).ExecutorPage);
const TaskPage = later(async () => (await details()).TaskPage);
const TypePage = later(async () => (await details()).TypePage);
const seldom = () => import('../pages/seldom.ts');
const AlertsPage = later(async () => (await seldom()).AlertsPage);
const AuditPage = later(async () => (await seldom()).AuditPage);
const BlackoutsPage = later(async () => (await seldom()).BlackoutsPage);
const CalendarPage = later(async () => (await seldom()).CalendarPage);
const CalendarsPage = later(async () => (await seldom()).CalendarsPage);
const NamespacesPage = later(async () => (await seldom()).NamespacesPage);
const OperationPage = later(async () => (await seldom()).OperationPage);
const OperationsPage = later(async () => (await seldom()).OperationsPage);
const ReportsPage = later(async () => (await seldom()).ReportsPage);
const TokensPage = later(async () => (await seldom()).TokensPage);
const NewTaskPage = later(async () => (await seldom()).NewTaskPage);
const CopyTaskPage = later(async () => (await seldom()).CopyTaskPage);
const ReceiversPage = later(async () => (await seldom()).ReceiversPage);
const RulesPage = later(async () => (await seldom()).RulesPage);
const DefinePage = later(async () => (await seldom()).DefinePage);
const LimitPage = later(async () => (await seldom()).LimitPage);
const LimitsPage = later(async () => (await seldom()).LimitsPage);
const OneAtATimePage = later(async () => (await seldom()).OneAtATimePage);
const PausesPage = later(async () => (await seldom()).PausesPage);
const scheduled = () => import('../pages/jobs/pages.ts');
const JobsPage = later(async () => (await scheduled()).JobsPage);
const JobPage = later(async () => (await scheduled()).JobPage);
const DefineJobPage = later(async () => (await scheduled()).DefineJobPage);
const RunJobPage = later(async () => (await scheduled()).RunJobPage);
const booked = () => import('../pages/bookings/pages.ts');
const BookingsPage = later(async () => (await booked()).BookingsPage);
const BookingPage = later(async () => (await booked()).BookingPage);
const BookPage = later(async () => (await booked()).BookPage);

interface Page {
  readonly title: TextName;
  /** Without the right to this it is not shown. */
  readonly route?: RouteName;
  readonly isInMenu: boolean;
  /** Pages that belong to it. */
  readonly keptFor?: readonly string[];
  /** After `g`. */
  readonly key?: string;
  /** `name`: of what is looked at; null where the URL names nothing. */
  readonly show: (name: string | null) => ComponentChildren;
}

export const pages: Readonly<Record<string, Page>> = {
  overview: {
    title: 'overview',
    isInMenu: true,
    keptFor: [''],
    key: 'o',
    show: () => <OverviewPage />,
  },
  tasks: {
    title: 'tasks',
    isInMenu: true,
    keptFor: ['task', 'new-task', 'copy-task'],
    key: 't',
    show: () => <TasksPage />,
  },
  task: {
    title: 'task',
    isInMenu: false,
    show: (name) => name && <TaskPage key={name} id={name} />,
  },
  failed: { title: 'failed', isInMenu: true, key: 'f', show: () => <FailedPage /> },
  jobs: {
    title: 'jobs',
    isInMenu: true,
    keptFor: ['job', 'define-job', 'run-job'],
    key: 'j',
    show: () => <JobsPage />,
  },
  job: {
    title: 'job',
    isInMenu: false,
    show: (name) => name && <JobPage key={name} name={name} />,
  },
  'define-job': {
    title: 'jobs.new',
    route: 'PUT /job/{name}',
    isInMenu: false,
    show: (name) => <DefineJobPage key={name} name={name} />,
  },
  'run-job': {
    title: 'jobs.run',
    route: 'POST /job/{name}/run',
    isInMenu: false,
    show: (name) => name && <RunJobPage key={name} name={name} />,
  },
  bookings: {
    title: 'bookings',
    isInMenu: true,
    keptFor: ['booking', 'book'],
    key: 'b',
    show: () => <BookingsPage />,
  },
  booking: {
    title: 'bookings.booking',
    isInMenu: false,
    show: (name) => name && <BookingPage key={name} id={name} />,
  },
  book: { title: 'book', route: 'POST /booking', isInMenu: false, show: () => <BookPage /> },
  alerts: {
    title: 'alerts',
    route: 'GET /alerts',
    isInMenu: true,
    keptFor: ['alert-rules', 'alert-receivers'],
    key: 'l',
    show: () => <AlertsPage />,
  },
  'alert-rules': {
    title: 'alert-rules',
    route: 'GET /alert-rules',
    isInMenu: false,
    show: () => <RulesPage />,
  },
  'alert-receivers': {
    title: 'alert-receivers',
    route: 'GET /alert-receivers',
    isInMenu: false,
    show: () => <ReceiversPage />,
  },
  executors: {
    title: 'executors',
    route: 'GET /executors',
    isInMenu: true,
    keptFor: ['executor'],
    key: 'e',
    show: () => <ExecutorsPage />,
  },
  executor: {
    title: 'executor',
    route: 'GET /executors',
    isInMenu: false,
    show: (name) => name && <ExecutorPage key={name} id={name} />,
  },
  types: {
    title: 'types',
    isInMenu: true,
    keptFor: ['type', 'define'],
    key: 'y',
    show: () => <TypesPage />,
  },
  type: {
    title: 'type',
    isInMenu: false,
    show: (name) => name && <TypePage key={name} name={name} />,
  },
  define: {
    title: 'define.new',
    route: 'PUT /type/{type}',
    isInMenu: false,
    show: (name) => <DefinePage key={name} name={name} />,
  },
  limits: {
    title: 'limits',
    isInMenu: true,
    keptFor: ['limit', 'one-at-a-time', 'pauses'],
    key: 'm',
    show: () => <LimitsPage />,
  },
  limit: {
    title: 'limits.limit',
    isInMenu: false,
    show: (name) => name && <LimitPage key={name} name={name} />,
  },
  'one-at-a-time': {
    title: 'one-at-a-time',
    isInMenu: false,
    show: () => <OneAtATimePage />,
  },
  pauses: { title: 'pauses', isInMenu: false, key: 'u', show: () => <PausesPage /> },
  calendars: {
    title: 'calendars',
    isInMenu: true,
    keptFor: ['calendar', 'blackouts'],
    key: 'd',
    show: () => <CalendarsPage />,
  },
  calendar: {
    title: 'calendars.name',
    isInMenu: false,
    show: (name) => name && <CalendarPage key={name} name={name} />,
  },
  blackouts: { title: 'blackouts', isInMenu: false, show: () => <BlackoutsPage /> },
  callbacks: { title: 'callbacks', isInMenu: true, key: 'c', show: () => <CallbacksPage /> },
  reports: { title: 'reports', isInMenu: true, key: 'r', show: () => <ReportsPage /> },
  operations: {
    title: 'operations',
    isInMenu: true,
    keptFor: ['operation'],
    key: 'p',
    show: () => <OperationsPage />,
  },
  operation: {
    title: 'operation',
    isInMenu: false,
    show: (name) => name && <OperationPage key={name} id={name} />,
  },
  namespaces: { title: 'namespaces', isInMenu: true, key: 'n', show: () => <NamespacesPage /> },
  audit: {
    title: 'audit',
    route: 'GET /audit',
    isInMenu: true,
    key: 'a',
    show: () => <AuditPage />,
  },
  tokens: {
    title: 'tokens',
    route: 'GET /tokens',
    isInMenu: true,
    key: 'k',
    show: () => <TokensPage />,
  },
  'new-task': {
    title: 'new-task',
    route: 'POST /task/submit',
    isInMenu: false,
    key: 's',
    show: () => <NewTaskPage />,
  },
  'copy-task': {
    title: 'action.copy',
    route: 'POST /task/{task_id}/copy',
    isInMenu: false,
    show: (name) => name && <CopyTaskPage key={name} id={name} />,
  },
};

const FIRST = 'overview';

/** `tasks/x` is one of the tasks, though it should be called `task/x`. */
function pageOf(page: string, name: string | null): Page | undefined {
  const called = (word: string) => (Object.hasOwn(pages, word) ? pages[word] : undefined);
  const one = name !== null && page.endsWith('s') ? called(page.slice(0, -1)) : undefined;
  return one ?? called(page);
}

export function pageAt({ page, name }: Place, me: Whoami): ComponentChildren {
  const there = pageOf(page === '' ? FIRST : page, name);
  const noPage = <Head title={t('no-page')} />;
  if (there === undefined) return noPage;
  const { route, show } = there;
  if (route === undefined || may(me, route)) return show(name) || noPage;
  return <p class="refusal">{t('no-right', { role: wordOf('role', me.role) })}</p>;
}
