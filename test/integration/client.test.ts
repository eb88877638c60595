/** The client package against a scripted master: batches, lost answers, refusals, waiting. */
import { inspect } from 'node:util';
import { expect } from 'chai';
import { createClient, type SodaClient, SodaError, type TaskView } from '@soda-scheduler/client';
import { HTTP_LIMITS } from '@soda-scheduler/protocol';
import { type Answer, FakeHttpApi, problem } from '../helpers/fake-http-api.ts';

const user = { group: 'video' };
const task = (id?: string) => ({ type: 'transcode', ...(id !== undefined && { id }) });

async function errorOf(promise: Promise<unknown>): Promise<SodaError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(SodaError);
  return error as SodaError;
}

describe('client', () => {
  let master: FakeHttpApi;
  let client: SodaClient;

  beforeEach(async () => {
    master = new FakeHttpApi();
    await master.start();
    client = createClient({ url: `${master.url}/`, token: 'secret', retryCount: 2 });
  });

  afterEach(() => master.stop());

  /** Answers the first request itself and the rest as usual. */
  function answerFirst(answer: (usual: () => Answer) => Answer | Promise<Answer>): void {
    let first = true;
    master.intercept = (_request, usual) => {
      if (!first) return undefined;
      first = false;
      return answer(usual);
    };
  }

  describe('submit', () => {
    it('sends a lone task by itself, with an id and the token', async () => {
      const { task_id, code } = await client.submit(task(), user);
      expect(code).to.equal(202);
      expect(task_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(master.paths()).to.deep.equal(['POST /task/submit']);
      expect(master.received[0]?.headers.authorization).to.equal('Bearer secret');
      expect(master.received[0]?.body).to.deep.equal({
        task: { type: 'transcode', id: task_id },
        user,
      });
    });

    it('gathers what comes while a request is under way', async () => {
      let others: Promise<unknown[]> = Promise.resolve([]);
      answerFirst((usual) => {
        others = Promise.all(['b', 'c', 'd'].map((id) => client.submit(task(id), user)));
        return usual();
      });
      await client.submit(task('a'), user);
      expect(await others).to.have.length(3);
      expect(master.paths()).to.deep.equal(['POST /task/submit', 'POST /task/submit-batch']);
      expect([...master.tasks.keys()], 'in order').to.deep.equal(['a', 'b', 'c', 'd']);
    });

    it('cuts batches by count and by bytes', async () => {
      await Promise.all(Array.from({ length: 2500 }, () => client.submit(task(), user)));
      expect(master.received.map(({ body }) => body.tasks.length)).to.deep.equal([1000, 1000, 500]);
      master.received.length = 0;
      const params = 'x'.repeat(200 * 1024);
      await Promise.all(
        Array.from({ length: 60 }, () => client.submit({ ...task(), params }, user)),
      );
      for (const { body } of master.received) {
        expect(Buffer.byteLength(JSON.stringify(body))).to.be.at.most(HTTP_LIMITS.batchBytesMax);
      }
      expect(master.received.length).to.equal(2);
      expect(master.tasks.size).to.equal(2560);
    });

    it('counts a task as accepted when only the answer was lost', async () => {
      answerFirst((usual) => {
        usual();
        return 'drop';
      });
      expect(await client.submit(task(), user)).to.include({ code: 202 });
      expect(master.tasks.size).to.equal(1);
      answerFirst((usual) => {
        usual();
        return 'drop';
      });
      await Promise.all([client.submit(task(), user), client.submit(task(), user)]);
      expect(master.tasks.size).to.equal(3);
    });

    it('refuses an id that another request holds', async () => {
      await client.submit(task('taken'), user);
      await client.submit(task('taken'), user);
      const error = await errorOf(client.submit({ id: 'taken', type: 'other' }, user));
      expect(error).to.include({ status: 409, code: 409, message: 'task id conflict: taken' });
    });

    it('settles each task of a batch by its own result and sends again what was put off', async () => {
      answerFirst(() => [
        200,
        {
          results: [
            { task_id: 'a', code: 202 },
            { task_id: 'b', code: 400, message: 'task.type: expected' },
            { task_id: 'c', code: 429, message: 'the backlog is full' },
          ],
        },
      ]);
      const [a, b, c] = await Promise.allSettled(
        ['a', 'b', 'c'].map((id) => client.submit(task(id), user)),
      );
      expect([a?.status, b?.status, c?.status]).to.deep.equal([
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(b).to.have.nested.property('reason.code', 400);
      expect(master.paths()).to.deep.equal(['POST /task/submit-batch', 'POST /task/submit']);
      expect([...master.tasks.keys()]).to.deep.equal(['c']);
    });

    it('gives up after its retries, and on what is not transient at once', async () => {
      master.intercept = () => problem(503, 'The master is recovering.');
      expect(await errorOf(client.submit(task(), user))).to.include({ status: 503 });
      expect(master.received).to.have.length(3);
      master.intercept = () => problem(401, 'The token is not known.');
      const both = ['a', 'b'].map((id) => errorOf(client.submit(task(id), user)));
      for (const error of await Promise.all(both)) expect(error.code).to.equal(401);
      expect(master.received).to.have.length(4);
    });

    it('leaves out what was aborted before it was sent', async () => {
      const abort = new AbortController();
      let queued: Promise<unknown> = Promise.resolve();
      answerFirst((usual) => {
        queued = client.submit(task('never'), user, { signal: abort.signal });
        queued.catch(() => {});
        abort.abort(new Error('changed my mind'));
        return usual();
      });
      await client.submit(task('a'), user);
      expect(await queued.catch((error: Error) => error.message)).to.equal('changed my mind');
      await client.submit(task('b'), user);
      expect([...master.tasks.keys()]).to.deep.equal(['a', 'b']);
    });
  });

  it('waits as long as Retry-After says, unless told to stop', async () => {
    const abort = new AbortController();
    answerFirst(() => {
      setImmediate(() => abort.abort(new Error('enough')));
      return problem(429, 'Too many requests.', { 'retry-after': '30' });
    });
    const reason = await client.get('a', { signal: abort.signal }).catch((error: unknown) => error);
    expect(String(reason)).to.match(/enough|aborted/);
    expect(master.received).to.have.length(1);
  });

  it('says what was wrong in the words of the master', async () => {
    expect(await errorOf(client.get('none'))).to.include({
      status: 404,
      message: 'No such task is retained.',
    });
    master.intercept = () => [
      400,
      {
        code: 400,
        errors: [{ field: 'task.type', message: 'expected' }],
      },
    ];
    const error = await errorOf(client.submit({ type: '?' }, user));
    expect(error.message).to.equal('task.type: expected');
    expect(error.problem?.errors).to.have.length(1);
  });

  it('says that no answer came', async () => {
    const gone = new FakeHttpApi();
    await gone.start();
    const { url } = gone;
    await gone.stop();
    const token = 'sd_of-nobody-else';
    const error = await errorOf(createClient({ url, token, retryCount: 0 }).submit(task(), user));
    expect(error).to.include({ status: 0, code: 0 });
    expect(error.cause).to.include({ code: 'ECONNREFUSED' });
    expect(inspect(error, { depth: 20, showHidden: true })).not.to.include(token);
    expect(error.message).to.match(/^no answer from http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    expect(() => createClient({ url: 'localhost:18890' })).to.throw(TypeError, /expected the http/);
    const misspelt = { url, tokn: 'secret' };
    expect(() => createClient(misspelt)).to.throw(TypeError, /^tokn: .*; did you mean token\?$/);
  });

  it('lists page by page, and only the pages asked for', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await client.submit(task(id), user);
    master.received.length = 0;
    const seen: string[] = [];
    for await (const { task_id } of client.list({ limit: 2 })) seen.push(task_id);
    expect(seen).to.deep.equal(['e', 'd', 'c', 'b', 'a']);
    expect(master.received).to.have.length(3);
    for await (const { task_id } of client.list({ limit: 2, state: 'waiting' })) {
      expect(task_id).to.equal('e');
      break;
    }
    expect(master.received).to.have.length(4);
  });

  it('goes on over pages that are empty, and brings single ones to whoever asks', async () => {
    for (const id of ['a', 'b']) await client.submit(task(id), user);
    let emptyCount = 3;
    master.intercept = ({ path }) =>
      path === '/tasks' && emptyCount-- > 0 ? [200, { tasks: [], next_cursor: '0' }] : undefined;
    const seen: string[] = [];
    for await (const { task_id } of client.list({ type: 'rare' })) seen.push(task_id);
    expect(seen).to.deep.equal(['b', 'a']);
    emptyCount = 1;
    expect(await client.page({ limit: 1 })).to.deep.equal({ tasks: [], next_cursor: '0' });
    const page = await client.page({ limit: 1, cursor: '0' });
    expect(page.tasks.map(({ task_id }) => task_id)).to.deep.equal(['b']);
    expect(page.next_cursor).to.equal('1');
  });

  it('waits until a task has ended and tells of each change', async () => {
    await client.submit(task('a'), user);
    const steps: (() => void)[] = [
      () => master.change('a', { state: 'running', attempt: 1 }),
      () => master.change('a', { progress: { percent: 50, state: null, at: '' } }),
      () => master.finish('a', 'succeeded', { frames: 3 }),
    ];
    const seen: unknown[] = [];
    const ended = await client.wait('a', {
      onProgress: ({ state, progress }: TaskView) => {
        seen.push([state, progress?.percent]);
        steps.shift()?.();
      },
    });
    expect(ended.result).to.deep.equal({ frames: 3 });
    expect(seen).to.deep.equal([
      ['waiting', undefined],
      ['running', undefined],
      ['running', 50],
      ['succeeded', 50],
    ]);
  });

  it('waits on while the master is away, and tells of it once', async () => {
    await client.submit(task('a'), user);
    master.executors = [{ executor_id: 'e1', task_id: 'a' } as never];
    for (const wait of [
      (options: object) => client.wait('a', options),
      (options: object) => client.waitForDrain('e1', options),
    ]) {
      const told: string[] = [];
      const options = {
        onAway: ({ message }: SodaError) => told.push(message),
        onBack: () => told.push('back'),
      };
      // More tries than any other call is worth, at first and after an answer.
      const answers = ['away', 'here', ...Array<string>(5).fill('away')];
      master.intercept = () => {
        const answer = answers.shift();
        if (answer === 'away') return 'drop';
        if (answer === undefined) {
          master.finish('a', 'succeeded');
          master.executors = [];
        }
        return undefined;
      };
      await wait(options);
      expect(answers).to.deep.equal([]);
      expect(told).to.have.length(2);
      expect(told[0]).to.match(/^no answer from /);
      expect(told[1]).to.equal('back');
      master.change('a', { state: 'running', finished_at: null });
      master.executors = [{ executor_id: 'e1', task_id: 'a' } as never];
    }
  });

  it('waits no more when told to while the master is away, or when it refuses', async () => {
    master.intercept = () => 'drop';
    const reason = new Error('enough');
    for (const wait of [
      (options: object) => client.wait('a', options),
      (options: object) => client.waitForDrain('e1', options),
    ]) {
      const abort = new AbortController();
      const { signal } = abort;
      const ended = wait({ signal, onAway: () => setImmediate(() => abort.abort(reason)) });
      expect(await ended.catch((error: unknown) => error)).to.equal(reason);
    }
    master.intercept = () => problem(401, 'The token is not known.');
    expect(await errorOf(client.wait('a'))).to.include({ code: 401 });
  });

  it('waits for every process of an executor id', async () => {
    const newer = { executor_id: 'e1', task_id: null } as never;
    const older = { executor_id: 'e1', task_id: 'a' } as never;
    master.executors = [newer, older];
    let askedCount = 0;
    master.intercept = () => {
      if (++askedCount === 2) master.executors = [newer];
      return undefined;
    };
    await client.waitForDrain('e1');
    expect(askedCount).to.equal(2);
  });

  it('stops waiting when told to', async () => {
    await client.submit(task('a'), user);
    const abort = new AbortController();
    const waiting = client.wait('a', { signal: abort.signal, onProgress: () => abort.abort() });
    expect(await waiting.catch((error: Error) => error.name)).to.equal('AbortError');
  });

  it('refuses an option that there is not, and says what there is', async () => {
    const refused = async (call: Promise<unknown>) => {
      const error = await call.catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TypeError);
      return (error as TypeError).message;
    };
    const key = { idempotencyKey: 'a' } as never;
    expect(await refused(client.submit(task('a'), user, key))).to.match(/give the task an `id`/);
    for (const call of [
      client.get('a', { sginal: null } as never),
      client.cancel('a', { sginal: null } as never),
      client.wait('a', { sginal: null } as never),
      client.page({}, { sginal: null } as never),
      client.executors({ sginal: null } as never),
      client.namespace('a', { sginal: null } as never),
    ]) {
      const message = 'sginal: there is no such option; did you mean signal?';
      expect(await refused(call)).to.equal(message);
    }
    expect(master.received).to.deep.equal([]);
  });

  it('is of a namespace, and tells of all of them', async () => {
    const video = createClient({ url: master.url, namespace: 'video', retryCount: 0 });
    await video.submit(task('a'), user);
    await video.get('a');
    await video.page();
    master.finish('a', 'succeeded');
    await video.wait('a');
    await video.executors();
    await Promise.all([video.submit(task('b'), user), video.submit(task('c'), user)]);
    expect(master.received.map(({ namespace }) => namespace)).to.deep.equal(Array(6).fill('video'));
    master.received.length = 0;
    for (const name of ['b', 'a', 'c']) await video.setNamespace(name, { max_running: 2 });
    expect(await video.setNamespace('a', { paused: { reason: 'full' } })).to.deep.include({
      max_running: 2,
      paused: { scope: 'namespace', at: '', by: null, reason: 'full', until: null },
    });
    expect((await video.namespace('a')).counts).to.deep.equal({ waiting: 3, running: 1, held: 0 });
    const names: string[] = [];
    for await (const { name } of video.namespaces()) names.push(name);
    expect(names, 'over two pages').to.deep.equal(['a', 'b', 'c']);
    await video.deleteNamespace('a');
    expect(await errorOf(video.namespace('a'))).to.include({ code: 404 });
    expect(new Set(master.received.map(({ namespace }) => namespace))).to.deep.equal(
      new Set(['default']),
    );
  });

  it('refuses a namespace that can be none', () => {
    const { url } = master;
    const made = (namespace: string, at = url) => createClient({ url: at, namespace });
    expect(() => made('Video')).to.throw(TypeError, /^namespace: expected .*"Video"$/);
    expect(() => made('a', `${url}/scheduler/v2/ns/b`)).to.throw(TypeError, /^namespace: the url/);
  });

  it('sends commands', async () => {
    await client.submit(task('a:b'), user);
    master.executors = [{ executor_id: 'e1' } as never];
    master.received.length = 0;
    await client.cancel('a:b', { reason: 'not needed' });
    await client.retry('a:b');
    await client.change('a:b', { priority: 'high' });
    await client.redeliver('a:b');
    await client.drainExecutor('e1', { timeout: 60 });
    await client.resumeExecutor('e1');
    await client.changeExecutor('e1', { labels: ['gpu'], reserve: null });
    expect((await client.executors())[0]?.executor_id).to.equal('e1');
    expect(master.received.map(({ method, path, body }) => [method, path, body])).to.deep.equal([
      ['POST', '/task/a%3Ab/cancel', { reason: 'not needed' }],
      ['POST', '/task/a%3Ab/retry', undefined],
      ['PATCH', '/task/a%3Ab', { priority: 'high' }],
      ['POST', '/task/a%3Ab/redeliver', undefined],
      ['POST', '/executor/e1/drain', { timeout: 60 }],
      ['POST', '/executor/e1/resume', undefined],
      ['PATCH', '/executor/e1', { labels: ['gpu'], reserve: null }],
      ['GET', '/executors', undefined],
    ]);
  });
});
