/**
 * People who ask one question after the other, ten pages of each, without a pause.
 * Arguments: URL of the API, number of them. Counts answers by their status.
 */
import { Agent } from 'node:http';
import { pagesOf } from './ask.ts';
import { questions } from './questions.ts';

const PAGE_COUNT = 10;
const [api = '', count = '1'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const statuses: Record<string, number> = {};

for (let index = 0; index < Number(count); index++) void read(index);
process.on('message', () => process.send?.({ statuses }));
process.once('SIGTERM', () => process.exit(0));

async function read(first: number): Promise<void> {
  // Each begins somewhere else.
  for (let at = Math.floor((first * questions.length) / Number(count)); ; at++) {
    const question = questions[at % questions.length];
    if (question === undefined) return;
    for await (const { status } of pagesOf(agent, api, question, PAGE_COUNT)) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
}
