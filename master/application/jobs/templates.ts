/** What a run of a job is submitted as: by the very rules of a submit. */
import type { NewTask } from '../../domain/model/new-task.ts';
import type { Job } from '../../domain/model/job.ts';
import type { TaskType } from '../../domain/model/task-type.ts';

/** What there is of a job that is to be run. */
export type Templated = Pick<Job, 'name' | 'version' | 'template'>;

export interface Templates {
  /**
   * Its id is empty: whoever runs it gives it one. A text: why it would be refused now.
   * @param params JSON text in place of those of the template; null: those.
   */
  taskOf(
    job: Templated,
    typeOf: (name: string) => TaskType | null,
    params: string | null,
  ): NewTask | string;
  /** Of a run: the same for the same. @param of its nominal time; of one by hand its key. */
  taskIdOf(job: string, trigger: string, of: number | string, rerun: number): string;
  /** In place of that one, which somebody else has: nobody can know it before, and so none has it. */
  anotherIdOf(taskId: string): string;
}
