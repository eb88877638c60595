/** The examples run as their pages say. */
import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { describeSystem, SECRET, user } from '../helpers/system/system.ts';

const example = (path: string) =>
  fileURLToPath(new URL(`../../examples/dist/${path}`, import.meta.url));

describeSystem(
  'the examples',
  ({ start }) => {
    it('greet, and take the callback that says so once they have verified it', async () => {
      const system = await start();
      const hello = system.spawn('hello', [example('hello/executor.js')], { SODA_URL: system.url });
      const receiver = system.spawn('receiver', [example('callback-receiver/main.js'), '0'], {
        SODA_NOTIFY_SECRET: SECRET,
      });
      const { text } = await receiver.said('where', (line) => line.text.includes('http://'));
      const url = /http:\S+/.exec(text)?.[0] ?? '';
      await system.connected(hello);

      const forged = await fetch(url, { method: 'POST', body: '{"task_id":"forged"}' });
      expect(forged.status).to.equal(401);
      const { task_id } = await system.client.submit(
        { type: 'hello', params: { name: 'Ada' }, notify_url: url },
        user,
      );
      const { fields } = await receiver.said('the callback', (line) => 'task_id' in line.fields);
      expect(fields).to.deep.include({ task_id, code: 200, result: { greeting: 'Hello, Ada!' } });

      expect(await hello.end('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    });
  },
  { stores: ['SQLite'] },
);
