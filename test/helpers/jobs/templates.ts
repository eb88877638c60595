/** Templates of jobs as a master reads them, where any receiver of callbacks will do. */
import type { Templates } from '../../../master/application/jobs/templates.ts';
import { JobTemplates } from '../../../master/access/routes/jobs/templates.ts';

export const templatesIn = (namespace = 'default'): Templates =>
  new JobTemplates(namespace, () => null);
