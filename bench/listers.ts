/**
 * People who look through history by filters that find nothing, page after page: nothing is more work.
 * Arguments: URL, number of them. Counts answers by their status.
 */
import { Agent, get } from 'node:http';
import { API_BASE } from '@soda-scheduler/protocol';

const [url = '', count = '1'] = process.argv.slice(2);
/** No index serves any of these. */
const FILTERS = ['type=nothing', 'project=nothing', 'error=nothing', 'min_attempts=1000'];
const agent = new Agent({ keepAlive: true });
const statuses: Record<string, number> = {};

for (let index = 0; index < Number(count); index++)
  void list(FILTERS[index % FILTERS.length] ?? '');
process.on('message', () => process.send?.({ statuses }));
process.once('SIGTERM', () => process.exit(0));

async function list(filter: string): Promise<void> {
  let cursor: string | null = null;
  for (;;) {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, text } = await ask(`${API_BASE}/tasks?${filter}&limit=100${after}`);
    statuses[status] = (statuses[status] ?? 0) + 1;
    cursor =
      status === 200 ? (JSON.parse(text) as { next_cursor: string | null }).next_cursor : null;
  }
}

function ask(path: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    get(url + path, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    }).on('error', reject);
  });
}
