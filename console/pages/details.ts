/** Pages of one thing out of a list: loaded once somebody opens one. */
export { ExecutorPage } from './fleet/executor.tsx';
export { TypePage } from './fleet/type.tsx';
export { TaskPage } from './task/task.tsx';
