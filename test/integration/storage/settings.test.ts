/** What an executor makes of its environment: nothing unless it says so, and nothing by halves. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { STORAGE_SETTINGS, storageOf } from '../../../examples/storage/settings.ts';

const opened = (env: Record<string, string>) => storageOf(z.object(STORAGE_SETTINGS).parse(env));

describe('settings of a storage', () => {
  const whole = {
    S3_ENDPOINT: 'https://s3.example.org',
    S3_BUCKETS: 'films, shared/mine/',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'secret',
  };

  it('are all off where nothing is said', () => {
    const off = { requests: null, store: null, bytesMax: 50e9, freeBytesMin: 200e6 };
    expect(opened({})).to.deep.equal(off);
  });

  it('list whom it may ask', async () => {
    const { requests, store, bytesMax } = opened({
      ...whole,
      INPUT_HOSTS: 'media.example.org, *.cdn.example.org',
      INPUT_ADDRESSES: '10.0.0.0/8',
      INPUT_MB_MAX: '1.5',
    });
    expect(bytesMax).to.equal(1_500_000);
    expect(() => requests?.check('https://a.cdn.example.org/x')).not.to.throw();
    expect(() => requests?.check('https://10.0.0.1/x')).to.throw('INPUT_HOSTS');
    expect(() => requests?.check('https://other.example.org/x')).to.throw('INPUT_HOSTS');
    expect(() => store?.check({ bucket: 'shared', key: 'mine/a' })).not.to.throw();
    expect(() => store?.check({ bucket: 'shared', key: 'a' })).to.throw('S3_BUCKETS');
    await Promise.all([requests?.close(), store?.close()]);
  });

  it('take keys from files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'soda-settings-'));
    const file = join(folder, 'secret');
    writeFileSync(file, 'secret\n');
    const { S3_SECRET_ACCESS_KEY: _, ...rest } = whole;
    await opened({ ...rest, S3_SECRET_ACCESS_KEY_FILE: file }).store?.close();
    rmSync(folder, { recursive: true });
    expect(() => opened({ ...rest, S3_SECRET_ACCESS_KEY_FILE: file })).to.throw('ENOENT');
  });

  const refused: [string, Record<string, string>, string][] = [
    ['buckets without a storage', { S3_BUCKETS: 'films' }, 'S3_ENDPOINT: S3_BUCKETS needs it'],
    ['a storage without buckets', { S3_ENDPOINT: 'https://s3.example.org' }, 'S3_BUCKETS'],
    [
      'a storage without keys',
      { S3_ENDPOINT: 'https://s3.example.org', S3_BUCKETS: 'films' },
      'S3_ACCESS_KEY_ID: S3_ENDPOINT needs it',
    ],
    ['an endpoint that is no URL', { ...whole, S3_ENDPOINT: 's3.example.org' }, 'S3_ENDPOINT'],
    ['a bucket that is none', { ...whole, S3_BUCKETS: 's3://films' }, 'expected bucket'],
    ['a host that is a URL', { INPUT_HOSTS: 'https://h' }, 'expected a host'],
    ['an address that is none', { INPUT_ADDRESSES: '10.0.0.0/99' }, 'INPUT_ADDRESSES'],
  ];
  for (const [what, env, message] of refused) {
    it(`refuse ${what}`, () => expect(() => opened(env)).to.throw(message));
  }
});
