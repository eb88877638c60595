/** What receivers may believe. */
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { CallbackRefused, verifyCallback } from '@soda-scheduler/client';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const secret = secretOf(1);
const body = '{"task_id":"a","code":200}';

function signed(by = secret, at = new Date()) {
  return {
    'webhook-id': 'msg_a_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('msg_a_1', at, body),
  };
}

describe('verifyCallback', () => {
  it('returns the body of a callback that is signed with a secret, as text or bytes', () => {
    expect(verifyCallback(body, signed(), secret)).to.deep.equal({ task_id: 'a', code: 200 });
    expect(verifyCallback(Buffer.from(body), signed(), secret).code).to.equal(200);
    expect(verifyCallback(body, { ...signed(), host: 'x' }, [secretOf(2), secret]).code).to.equal(
      200,
    );
  });

  it('refuses everything else and says why', () => {
    const hourAgo = new Date(Date.now() - 3_600_000);
    const { 'webhook-signature': _, ...unsigned } = signed();
    const cases: [RegExp, () => unknown][] = [
      [/No matching signature/, () => verifyCallback(body, signed(secretOf(2)), secret)],
      [/No matching signature/, () => verifyCallback(`${body} `, signed(), secret)],
      [/too old/, () => verifyCallback(body, signed(secret, hourAgo), secret)],
      [/webhook-signature header is missing/, () => verifyCallback(body, unsigned, secret)],
      [/no secret/, () => verifyCallback(body, signed(), [])],
    ];
    for (const [reason, call] of cases) expect(call).to.throw(CallbackRefused, reason);
  });
});
