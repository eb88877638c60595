/** The documentation as the master serves it: to anyone, under a policy, kept by browsers, and nothing beside it. */
import { expect } from 'chai';
import { HttpFace } from '../../helpers/http-face.ts';

const page = (text: string) => ({
  contentType: 'text/html; charset=utf-8',
  bytes: Buffer.from(text),
});
const files = new Map([
  ['index.html', page('<p>index</p>')],
  ['tutorial.html', page('<p>tutorial</p>')],
  ['style-1.css', { contentType: 'text/css; charset=utf-8', bytes: Buffer.from('p{}') }],
  ['shot-1.png', { contentType: 'image/png', bytes: Buffer.from('png') }],
]);
const tokens = { submitToken: null, executorToken: null, adminToken: 'admin-token-0123456789' };

describe('the documentation over HTTP', () => {
  let face: HttpFace;
  before(async () => {
    face = await new HttpFace({ configured: tokens, docs: files }).open();
  });
  after(() => face.close());

  it('is for anyone, from the address that people type', async () => {
    const door = await face.get('/docs');
    expect([door.status, door.headers['content-type']]).to.deep.equal([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(door.text).to.include('content="0; url=docs/index.html"');
    const inside = await face.get('/docs/');
    expect([inside.status, inside.text.includes('content="0; url=index.html"')]).to.deep.equal([
      200,
      true,
    ]);
    const { status, text, headers } = await face.get('/docs/index.html');
    expect([status, text]).to.deep.equal([200, '<p>index</p>']);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    expect((await face.get('/docs/tutorial.html')).text).to.equal('<p>tutorial</p>');
  });

  it('comes with the policy of the console, which sends nobody to TLS', async () => {
    for (const path of ['/docs', '/docs/', '/docs/tutorial.html']) {
      const { headers } = await face.get(path);
      expect(headers['content-security-policy'], path).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers['x-content-type-options'], path).to.equal('nosniff');
    }
  });

  it('has pages that are sent again only where they have changed, and files that are kept', async () => {
    const { headers } = await face.get('/docs/tutorial.html');
    expect(headers['cache-control']).to.equal('no-cache');
    const tag = String(headers['etag']);
    const known = await face.get('/docs/tutorial.html', { 'if-none-match': tag });
    expect([known.status, known.text]).to.deep.equal([304, '']);
    const other = '/docs/index.html';
    expect((await face.get(other, { 'if-none-match': tag })).status).to.equal(200);
    const style = await face.get('/docs/style-1.css');
    expect(style.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
  });

  it('is zipped, but for what is small already', async () => {
    const encoding = async (path: string) =>
      (await face.get(path, { 'accept-encoding': 'gzip' })).headers['content-encoding'];
    expect(await encoding('/docs/tutorial.html')).to.equal('gzip');
    expect(await encoding('/docs/shot-1.png')).to.equal(undefined);
  });

  it('has another ETag zipped than as it is, each of them known again', async () => {
    const path = '/docs/tutorial.html';
    const gzip = { 'accept-encoding': 'gzip' };
    const plain = (await face.get(path)).headers;
    const zipped = (await face.get(path, gzip)).headers;
    expect(zipped['etag']).to.match(/^"[\w-]{43}-gzip"$/);
    expect(plain['etag']).to.equal(String(zipped['etag']).replace('-gzip', ''));
    expect([plain['vary'], zipped['vary']]).to.deep.equal(['Accept-Encoding', 'Accept-Encoding']);
    const ask = (tag: unknown) => face.get(path, { ...gzip, 'if-none-match': String(tag) });
    const known = await ask(zipped['etag']);
    expect([known.status, known.headers['vary']]).to.deep.equal([304, 'Accept-Encoding']);
    expect((await ask(plain['etag'])).status).to.equal(200);
  });

  it('leads to nothing else', async () => {
    const beside = [
      '..%2Fmain.js',
      '%2e%2e%2fmain.js',
      '.',
      '..',
      'a/b.html',
      'none.html',
      '%00',
      '%',
    ];
    for (const path of beside) {
      expect((await face.get(`/docs/${path}`)).status, path).to.be.oneOf([400, 404]);
    }
    const bare = await new HttpFace().open();
    const { status, text } = await bare.get('/docs/index.html');
    await bare.close();
    expect([status, text.includes('npm run build')]).to.deep.equal([404, true]);
  });
});
