/** Which pages there are: what is not here does not exist, neither in the menu nor for the keyboard. */
import type { ComponentChildren } from 'preact';
import type { RouteName } from '../api/me.ts';
import { ExecutorPage } from '../pages/executor.tsx';
import { ExecutorsPage } from '../pages/executors.tsx';
import { FailedPage } from '../pages/failed.tsx';
import { OperationPage } from '../pages/operation.tsx';
import { OverviewPage } from '../pages/overview.tsx';
import { TaskPage } from '../pages/task/task.tsx';
import { TasksPage } from '../pages/tasks.tsx';
import { t, type TextName } from '../words/words.ts';
import type { Place } from './place.ts';

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
    keptFor: ['task'],
    key: 't',
    show: () => <TasksPage />,
  },
  task: {
    title: 'task',
    isInMenu: false,
    show: (name) => name && <TaskPage key={name} id={name} />,
  },
  failed: { title: 'failed', isInMenu: true, key: 'f', show: () => <FailedPage /> },
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
    isInMenu: false,
    show: (name) => name && <ExecutorPage key={name} id={name} />,
  },
  operation: {
    title: 'operation',
    isInMenu: false,
    show: (name) => name && <OperationPage key={name} id={name} />,
  },
};

const FIRST = 'overview';

export function pageAt({ page, name }: Place): ComponentChildren {
  const there = pages[page === '' ? FIRST : page];
  return there === undefined ? <p class="refusal">{t('no-page')}</p> : there.show(name);
}
