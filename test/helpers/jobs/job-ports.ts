/** What jobs need of the outside, as a master has it. */
import type { JobPorts } from '../../../master/application/jobs/read-jobs.ts';
import { JobTemplates } from '../../../master/access/routes/jobs/templates.ts';

export const jobPorts = (namespace = 'default'): JobPorts => ({
  templates: new JobTemplates(namespace, () => null),
});
