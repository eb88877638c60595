/**
 * What the page of the ready executors shows: its configuration is read, and looked at; its commands are run with it; its params are
 * held against the handlers, and against the definitions that it prints.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { ParamsSchema } from '../../../master/access/body/params-schema.ts';
import { typeDefinition } from '../../../protocol/api/types.ts';
import { readConfig } from '../../../executors/config.ts';
import { requestParams } from '../../../executors/http-request/params.ts';
import { parseParams } from '../../../executors/params.ts';
import { scriptParams } from '../../../executors/script/script.ts';
import { commandParams } from '../../../executors/shell-command/command.ts';
import { blocksOf, root } from '../document.ts';

const PAGE = 'docs/executors.md';
const handlers = {
  'shell.command': commandParams,
  'http.request': requestParams,
  script: scriptParams,
} as const;

const blocks = blocksOf(PAGE);
const [configuration = ''] = blocks.flatMap(({ language, code }) =>
  language === 'yaml' ? [code] : [],
);
const typed = blocks.flatMap(({ language, code }) =>
  language === 'sh' ? code.split('\n').filter((line) => line.includes('soda-executors')) : [],
);
/** In the order of the page: each stands under the heading of its type. */
const params = blocks.flatMap(({ language, code, place }) =>
  language === 'json' ? [{ place, given: JSON.parse(code) as object }] : [],
);

describe('the page of the ready executors', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-executors-'));
    writeFileSync(join(folder, 'executors.yaml'), configuration);
  });
  after(() => rmSync(folder, { recursive: true }));

  const run = (line: string) => {
    const [, ...args] = line.trim().split(' ');
    const program = join(root, 'executors/bin/soda-executors.js');
    return spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  };

  it('has a configuration of all types, whose every word is known', async () => {
    const config = await readConfig(join(folder, 'executors.yaml'));
    expect(config).to.include.keys(Object.keys(handlers));
    expect(parse(configuration)).to.include.keys('url', 'token_file');
  });

  it('types commands that do what it says', async () => {
    expect(typed).to.have.length(3);
    const [check = '', types = '', start = ''] = typed;
    // The paths of the page are on no machine: all that is wrong is that.
    const looked = run(check);
    expect(looked.status).to.equal(1);
    expect(looked.stdout).to.include('shell.command: enabled\nhttp.request: enabled');
    const wrong = looked.stdout.split('\n').filter((line) => line.startsWith('wrong: '));
    const known =
      /is no (?:directory|program)|cannot be (?:read|written)|no such file|this is root|make-report/;
    expect(wrong.filter((line) => !known.test(line))).to.deep.equal([]);
    expect(run(start).stderr).to.include(wrong[0]?.slice('wrong: '.length) ?? 'nothing');
    // And with folders and programs that are there, nothing.
    for (const name of ['jobs', 'scripts', 'tmp']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'secret'), 'x');
    const here = configuration
      .replace('/srv/jobs', join(folder, 'jobs'))
      .replace('/opt/scripts', join(folder, 'scripts'))
      .replace('/var/tmp', join(folder, 'tmp'))
      .replaceAll(/\/run\/secrets\/\S+?(?= |$)/gm, join(folder, 'secret'))
      .replaceAll(/\/usr(?:\/local)?\/bin\/[\w-]+/g, '/bin/sh');
    writeFileSync(join(folder, 'executors.yaml'), `allow_root: true\n${here}`);
    expect(run(check).stdout).to.match(/\nok\n$/);
    expect(types).to.include('> types.yaml && soda type apply -f types.yaml');
  });

  it('has params that handlers and the printed definitions take', () => {
    const { stdout } = run('soda-executors --types');
    const definitions = new Map(
      parseAllDocuments(stdout).map((document) => {
        const { type, ...rest } = document.toJS() as { type: string };
        return [type, new ParamsSchema(typeDefinition.parse(rest).params_schema as object)];
      }),
    );
    expect([...definitions.keys()]).to.have.members(Object.keys(handlers));
    expect(params).to.have.length(3);
    for (const [index, [type, schema]] of Object.entries(handlers).entries()) {
      const { place, given } = params[index] as (typeof params)[number];
      parseParams(schema, given);
      const errors = (value: object) => definitions.get(type)?.errorsOf(JSON.stringify(value));
      expect(errors(given), place).to.deep.equal([]);
      expect(errors({ ...given, shell: true }), place).not.to.deep.equal([]);
    }
  });
});
