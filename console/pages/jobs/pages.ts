/** Pages of jobs: loaded once one of them is opened. */
export { DefineJobPage } from './define/define-job.tsx';
export { JobPage } from './job.tsx';
export { JobsPage } from './jobs.tsx';
export { RunJobPage } from './run-job.tsx';
