/** What a start loads: libraries take longer than everything of ours, so each waits until it is needed. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const built = (path: string): URL => new URL(`../../../${path}`, import.meta.url);

/** What a built file loads before its first line runs. */
function loadedBy(entry: URL): { libraries: string[]; files: string[] } {
  const seen = new Set([entry.href]);
  const libraries = new Set<string>();
  for (const file of seen) {
    const imports = readFileSync(fileURLToPath(file), 'utf8').matchAll(
      /^(?:import|export|\})[^;]*? from '([^']+)';$|^import '([^']+)';$/gm,
    );
    for (const [, from, bare] of imports) {
      const name = from ?? bare ?? '';
      if (name.startsWith('.')) seen.add(new URL(name, file).href);
      else if (name.startsWith('@soda-scheduler/')) seen.add(resolved(name));
      else if (!name.startsWith('node:')) libraries.add(name);
    }
  }
  return { libraries: [...libraries].sort(), files: [...seen] };
}

/** As the packages' `exports` say. */
function resolved(name: string): string {
  const [scope = '', pack = '', path] = name.split('/');
  const manifest = createRequire(import.meta.url)(`${fileURLToPath(built(pack))}/package.json`) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, { readonly default: string }>>;
  };
  expect(manifest.name).to.equal(`${scope}/${pack}`);
  const { default: file = '' } = manifest.exports[path === undefined ? '.' : `./${path}`] ?? {};
  return built(`${pack}/${file}`).href;
}

describe('what is loaded at the start', () => {
  it('of a command is neither the master, nor what checks bodies, nor what makes calls', () => {
    const { libraries } = loadedBy(built('cli/dist/soda.js'));
    expect(libraries).to.include.members(['commander', 'standardwebhooks']);
    expect(libraries).not.to.include('axios');
    expect(libraries).not.to.include('zod');
    expect(libraries).not.to.include('winston');
  });

  it('of a master is neither a driver, before its database is named, nor what checks params', () => {
    const { libraries } = loadedBy(built('master/dist/main.js'));
    expect(libraries).to.include.members(['router', 'winston', 'zod']);
    expect(libraries).not.to.include('libsql');
    expect(libraries).not.to.include('mysql2');
    expect(libraries).not.to.include('ajv/dist/2020.js');
  });

  it('of the client is not what checks bodies', () => {
    const { libraries } = loadedBy(built('client/dist/index.js'));
    expect(libraries).to.deep.equal(['p-retry', 'standardwebhooks', 'uuid']);
  });

  it('of an executor, beside its session, is nothing but ours', () => {
    expect(loadedBy(built('executor-sdk/dist/index.js')).libraries).to.deep.equal([]);
    const session = loadedBy(built('executor-sdk/dist/session/session-thread.js'));
    expect(session.libraries).to.deep.equal(['ws', 'zod']);
    expect(session.files).to.include(built('protocol/dist/messages.js').href);
    expect(session.files, 'bodies').not.to.include(built('protocol/dist/schemas.js').href);
  });
});
