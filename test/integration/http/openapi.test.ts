/** The document of all routes: complete, and one that tools can read. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import { type AnswerKind, answers } from '../../../master/access/http/answers.ts';
import { HttpFace } from '../../helpers/http-face.ts';

describe('the OpenAPI document', () => {
  interface Operation {
    readonly operationId: string;
    readonly parameters?: readonly { readonly name: string; readonly in: string }[];
    readonly security: readonly unknown[];
    readonly responses: Readonly<Record<string, unknown>>;
  }
  interface Document {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  }
  let face: HttpFace;
  let document: Document;
  before(async () => {
    face = await new HttpFace().open();
    document = (await face.get('/openapi.json')).json<Document>();
  });
  after(() => face.close());

  it('lists every route, with its parameters and its answers', () => {
    expect(document.openapi).to.equal('3.1.0');
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = face.http.routes.map(({ method, path }) => `${method} ${path}`);
    expect(listed.sort()).to.deep.equal(served.sort());

    const operations = face.http.routes.map((route) => ({
      route,
      operation: document.paths[route.path]?.[route.method.toLowerCase()],
    }));
    for (const { route, operation } of operations) {
      const inPath = operation?.parameters?.filter((parameter) => parameter.in === 'path') ?? [];
      for (const { name } of inPath) expect(route.path).to.include(`{${name}}`);
      expect(inPath.length).to.equal(route.path.split('{').length - 1);
      const kinds = Object.keys(route.replies) as AnswerKind[];
      const statuses = kinds.map((kind) => String(answers[kind].status));
      expect(operation?.responses).to.include.keys('4XX', '5XX', ...statuses);
      expect(operation?.security.length).to.equal(route.right.roles === 'anyone' ? 0 : 1);
    }
    const ids = new Set(operations.map(({ operation }) => operation?.operationId));
    expect(ids.size).to.equal(operations.length);
  });

  it('is sent as bytes that are kept, small where that is asked for, and not again where it is known', async () => {
    const plain = await face.get('/openapi.json');
    const { etag } = plain.headers;
    expect(etag).to.match(/^"[\w-]{43}"$/);
    const known = await face.get('/openapi.json', { 'if-none-match': String(etag) });
    expect([known.status, known.text]).to.deep.equal([304, '']);
    const zipped = await face.get('/openapi.json', { 'accept-encoding': 'gzip' });
    expect(zipped.headers['content-encoding']).to.equal('gzip');
    expect(zipped.text.length).to.be.below(plain.text.length / 5);
  });

  it('is made in pieces, between which others have their turn', async () => {
    const other = await new HttpFace().open();
    let turnCount = 0;
    let isMade = false;
    const turn = (): void => {
      turnCount += 1;
      if (!isMade) setImmediate(turn);
    };
    setImmediate(turn);
    await other.get('/openapi.json');
    isMade = true;
    await other.close();
    expect(turnCount).to.be.above(Object.keys(document.paths).length);
  });

  it('is what a linter of such documents finds no fault with', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      // `/docs/` is what people type.
      rules: { 'no-path-trailing-slash': 'off' },
    });
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, config });
    const told = problems.map(
      ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
    );
    expect(told).to.deep.equal([]);
  });

  it('refers only to schemas that it holds', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference);
    expect(references.length).to.be.greaterThan(15);
    const known = Object.keys(document.components.schemas);
    for (const reference of references) {
      expect(known).to.include(reference?.replace('#/components/schemas/', ''));
    }
    for (const name of known) expect(references, name).to.include(`#/components/schemas/${name}`);
    expect(text).not.to.match(/"\$(schema|id|defs)"/);
  });
});
