/** Callbacks to receivers that are down, slow, broken, gone, or point elsewhere. */
import { expect } from 'chai';
import { answerWith } from '../helpers/system/receiver.ts';
import { describeSystem, type System } from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';

/** The callback of the task was tried so often, and this is what became of it. */
function tried(system: System, taskId: string, tries: number) {
  return eventually(`${tries} tries for ${taskId}`, async () => {
    const { notification } = await system.task(taskId);
    return notification?.tries === tries && notification;
  });
}

describeSystem('a callback', ({ start }) => {
  it('comes with one id and a valid signature on every try, until it was taken or refused', async () => {
    const system = await start();
    const { receiver } = system;
    await system.executor({ id: 'a' });
    const submit = (notify_url: string) => system.submit([[]], { notify_url });
    const elsewhere = receiver.url('elsewhere');
    const [broken, gone, moved, slow] = await Promise.all([
      submit(receiver.url('broken', answerWith(500))),
      submit(receiver.url('gone', answerWith(410))),
      submit(receiver.url('moved', answerWith(302, { location: elsewhere }))),
      submit(
        receiver.url('slow', (_request, response) => {
          setTimeout(() => response.writeHead(204).end(), 2_000);
        }),
      ),
    ]);

    expect(await tried(system, gone, 1)).to.include({ state: 'gave_up', last_status: 410 });
    expect(await tried(system, slow, 1)).to.include({ state: 'delivered', last_status: 204 });
    expect(await tried(system, moved, 1)).to.include({ state: 'pending', last_status: 302 });
    expect(await tried(system, broken, 1)).to.include({ state: 'pending', last_status: 500 });
    expect(await tried(system, broken, 2)).to.include({ state: 'delivered', last_status: 204 });

    expect(receiver.at('elsewhere')).to.deep.equal([]);
    expect(receiver.at('gone')).to.have.length(1);
    expect(receiver.at('slow')).to.have.length(1);
    const tries = receiver.at('broken');
    expect(tries).to.have.length(2);
    expect(tries[0]?.id).to.equal(tries[1]?.id);
    for (const { body } of tries) {
      expect(body).to.include({ task_id: broken, code: 200, state: 'succeeded', attempts: 1 });
      expect(body?.user).to.deep.equal({ group: 'tests' });
    }
    const ids = ['broken', 'gone', 'moved', 'slow'].map((path) => receiver.at(path)[0]?.id);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('waits for a receiver that is down, over a restart, and is sent again on demand', async () => {
    const system = await start();
    const { receiver } = system;
    await system.executor({ id: 'a' });
    const notify_url = receiver.url('down');
    await receiver.close();
    const taskId = await system.submit([[]], { notify_url });
    const pending = await tried(system, taskId, 1);
    expect(pending).to.include({ state: 'pending', last_status: null });

    await system.master.end('SIGKILL');
    await receiver.listen();
    await system.startMaster();
    await system.client.redeliver(taskId);
    const [first] = await system.delivered('down');
    await eventually('it is delivered', async () => {
      const { notification } = await system.task(taskId);
      return notification?.state === 'delivered';
    });
    await system.client.redeliver(taskId);
    const deliveries = await system.delivered('down', 2);
    expect(deliveries.map(({ id }) => id)).to.deep.equal([first?.id, first?.id]);
    expect(deliveries.every(({ body }) => body?.task_id === taskId)).to.equal(true);
  });
});
