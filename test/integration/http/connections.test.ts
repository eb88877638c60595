/** As many connections as there may be, and more. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { SPARE_CONNECTION_COUNT_MAX } from '../../../master/domain/bounds.ts';
import { everythingFrom, HttpFace } from '../../helpers/http-face.ts';

const LIST = '/scheduler/v2/tasks';

describe('the connections of a master', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace({ connectionCountMax: 2 }).open();
  });
  afterEach(async () => {
    face.hangUp();
    await face.close();
  });

  it('may be so many: of others the probes are answered, and else a 503', async () => {
    const taken = once(face.http.server, 'connection');
    const first = await face.dial();
    const [atServer] = (await taken) as [Socket];
    await face.dial();
    expect((await face.get('/livez')).status).to.equal(200);
    expect((await face.get('/readyz')).status).to.equal(200);
    const refused = await face.get(LIST, { connection: 'keep-alive' });
    expect(refused.status).to.equal(503);
    expect(refused.headers).to.include({ connection: 'close', 'retry-after': '1' });
    expect(refused.json().detail).to.match(/as many connections/);
    const [told] = face.logged;
    expect(told?.message).to.match(/^there are as many connections as may be/);
    expect(face.http.fills()[0]).to.include({ bound: 'connection_count', limit: 2 });

    first.destroy();
    await once(atServer, 'close');
    expect((await face.get(LIST)).status).to.equal(200);
  });

  it('beyond that wait for a probe a second, and are closed at once where too many do', async () => {
    const silent = [];
    for (let n = 0; n < 2 + SPARE_CONNECTION_COUNT_MAX; n++) silent.push(await face.dial());
    const dropped = once(face.http.server, 'drop');
    const last = await face.dial();
    await Promise.all([dropped, once(last, 'close')]);
    const [, , spare] = silent;
    if (spare === undefined) throw new Error('none was dialled');
    await everythingFrom(spare);
    expect((await face.get('/livez')).status).to.equal(200);
    expect(silent[0]?.destroyed).to.equal(false);
  });
});
