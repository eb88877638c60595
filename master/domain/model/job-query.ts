/** Which jobs a list asks for. */
import type { Job } from './job.ts';
import { sees, type Sight } from './task-filter.ts';

interface Asked {
  readonly tag: string | null;
  /** Somewhere in its name or description, whatever the case. */
  readonly text: string | null;
  readonly isEnabled: boolean | null;
  readonly within: Sight | null;
}

export const ANY_JOB: Asked = { tag: null, text: null, isEnabled: null, within: null };

export function isAsked(
  job: Pick<Job, 'name' | 'description' | 'tags' | 'type' | 'group' | 'isEnabled'>,
  { tag, text, isEnabled, within }: Asked,
): boolean {
  const { name, description, tags, type, group } = job;
  const words = `${name}\n${description ?? ''}`.toLowerCase();
  return (
    (tag === null || tags.includes(tag)) &&
    (text === null || words.includes(text.toLowerCase())) &&
    (isEnabled === null || job.isEnabled === isEnabled) &&
    (within === null || sees(within, type, group))
  );
}
