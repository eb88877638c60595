/** What is said about a `notify_url` when it is submitted, before anybody calls it. */
import { expect } from 'chai';
import { HttpFace } from '../../helpers/http-face.ts';

const SUBMIT = '/scheduler/v2/task/submit';
const BATCH = '/scheduler/v2/task/submit-batch';

describe('notify_url', () => {
  const withUrl = (notify_url: string) => ({
    task: { type: 't', notify_url },
    user: { group: 'video' },
  });
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(() => face.close());

  it('is kept as it is, or refused', async () => {
    for (const url of [
      ' http://example.com/x',
      'http://example.com/x ',
      'http://exa\tmple.com/x',
      'http://example.com/x\n',
      '\u0000http://example.com/',
      'http://example.com/\u00a0',
    ]) {
      const answer = await face.post(SUBMIT, withUrl(url));
      expect(answer.status, JSON.stringify(url)).to.equal(400);
      const fields = answer.json().errors.map(({ field }) => field);
      expect(new Set(fields), JSON.stringify(url)).to.deep.equal(new Set(['task.notify_url']));
    }
    expect(face.master.submissions).to.deep.equal([]);
    for (const url of ['HTTP://Example.com:080/a/../b?x=%20#y', 'https://[2606:4700::1]']) {
      expect((await face.post(SUBMIT, withUrl(url))).status).to.equal(202);
      expect(face.master.submissions.at(-1)?.notifyUrl).to.equal(url);
    }
  });

  it('is refused where it can never be called', async () => {
    const long = 'x'.repeat(64);
    for (const host of ['.', '..', '*', 'a..b', `${long}.org`, 'abcdefgh.'.repeat(40), 'a.org:0']) {
      const answer = await face.post(SUBMIT, withUrl(`http://${host}/`));
      expect(answer.status, host).to.equal(400);
      expect(answer.json().errors[0]?.message, host).to.match(
        /^refused: (the host is no name|nobody)/,
      );
    }
    for (const host of ['a.org.', 'a_b.c-d', `${long.slice(1)}.org`, 'ä.org']) {
      expect((await face.post(SUBMIT, withUrl(`http://${host}/`))).status, host).to.be.oneOf([
        202, 400,
      ]);
    }
    expect((await face.post(SUBMIT, withUrl('http://a_b.c-d.:8080/'))).status).to.equal(202);
  });

  it('is refused by policy, where no name must be resolved for it', async () => {
    for (const host of ['10.0.0.7', '169.254.169.254', '[::1]', '0xa.7']) {
      const answer = await face.post(SUBMIT, withUrl(`http://${host}:8080/done`));
      expect(answer.status, host).to.equal(400);
      const [error] = answer.json().errors;
      expect(error?.field, host).to.equal('task.notify_url');
      // Of a metadata service nobody is told how to allow it.
      const said = host.startsWith('169.254') ? / address$/ : / SODA_NOTIFY_ALLOW$/;
      expect(error?.message, host)
        .to.match(/^refused: /)
        .and.to.match(said);
    }
    expect(face.master.submissions).to.deep.equal([]);
    const receivers = ['http://127.0.0.1/', 'http://localhost/', 'http://db.internal/'];
    const batch = await face.post(BATCH, {
      tasks: ['http://10.0.0.7/', ...receivers].map(withUrl),
    });
    const { results } = batch.json();
    expect(results.map(({ code }) => code)).to.deep.equal([400, 202, 202, 202]);
    expect(results[0]?.message).to.match(/^task.notify_url: refused: 10.0.0.7 is a private/);
  });
});
