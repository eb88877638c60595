/** What a task and its attempts look like where there is much of them. */
import type { TaskView } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { HttpFace } from '../../helpers/http-face.ts';
import { waitingTask, submissionOf } from '../../helpers/stand-in-handle.ts';

const BASE = '/scheduler/v2';
const AT = Date.UTC(2026, 10, 20, 12);

function aTask(id: string) {
  const body = { task: { id, type: 'transcode' }, user: { group: 'video' } };
  return waitingTask(submissionOf(body), 1);
}

describe('HTTP: large tasks', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(() => face.close());

  it('what is large in a timeline by its size, and whole in the attempt', async () => {
    const task = Object.assign(aTask('job-1'), { attempt: 4 });
    const record = (attempt: number, error: object, detailsBytes = 0) => ({
      taskSeq: 1,
      attempt,
      executorId: 'gpu-1',
      incarnation: 'i',
      session: null,
      outcome: 'failed' as const,
      offeredAt: AT,
      startedAt: AT,
      endedAt: AT,
      error: { message: 'm', ...error },
      detailsBytes,
    });
    const details = { log: '\u5f71'.repeat(1000) };
    const message = 'x'.repeat(5000);
    face.master.keep(task, {
      attempts: [
        record(1, { details: '{"path":"/a"}' }),
        record(2, { name: 'E', details: JSON.stringify(details) }),
        record(3, {}, 5_000_000),
        record(4, { message }),
      ],
    });
    const view = (await face.get(`${BASE}/task/job-1`)).json<TaskView>();
    expect(view.timeline.map(({ error }) => error)).to.deep.equal([
      { message: 'm', details: { path: '/a' } },
      { message: 'm', name: 'E', details_bytes: 3010 },
      { message: 'm', details_bytes: 5_000_000 },
      { message: `${'x'.repeat(1024)}…` },
    ]);
    const whole = (await face.get(`${BASE}/task/job-1/attempt/2`)).json();
    expect(whole).to.deep.include({ attempt: 2, error: { message: 'm', name: 'E', details } });
    for (const [attempt, status] of [
      ['5', 404],
      ['0', 400],
      ['x', 400],
    ] as const) {
      const refused = await face.get(`${BASE}/task/job-1/attempt/${attempt}`);
      expect(refused.status, attempt).to.equal(status);
    }
    expect((await face.get(`${BASE}/task/job-9/attempt/1`)).status).to.equal(404);
  });
});
