/** The params that the pages of video show, held against the executors and against the schemas of their types. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseParams as parseEdit } from '../../../examples/ffmpeg/edit/params.ts';
import { parseParams as parseLadder } from '../../../examples/ffmpeg/ladder/params.ts';
import { readProfiles } from '../../../examples/ffmpeg/ladder/profile.ts';
import { parseParams as parseTranscode } from '../../../examples/ffmpeg/params.ts';
import { ParamsSchema } from '../../../master/access/body/params-schema.ts';
import { typeDefinition } from '../../../protocol/api/types.ts';
import { blocksOf, root } from '../document.ts';

const parsers = {
  'ffmpeg.edit': parseEdit,
  'ffmpeg.ladder': parseLadder,
  'ffmpeg.transcode': parseTranscode,
} as const;
type Type = keyof typeof parsers;

/** With the type that the page tells of, where a block does not say its own. */
const pages: readonly (readonly [string, Type])[] = [
  ['docs/transcode.md', 'ffmpeg.transcode'],
  ['docs/edit.md', 'ffmpeg.edit'],
  ['docs/ladder.md', 'ffmpeg.ladder'],
];

interface Example {
  readonly place: string;
  readonly type: Type;
  readonly params: unknown;
}

function examplesOf([page, usual]: readonly [string, Type]): Example[] {
  return blocksOf(page)
    .filter(({ language }) => language === 'json')
    .map(({ place, code }) => {
      const { task } = JSON.parse(code) as { task?: { type: Type; params: unknown } };
      return { place, type: task?.type ?? usual, params: task?.params ?? JSON.parse(code) };
    });
}

/** What the page for video teams types. */
const typed = blocksOf('docs/how-to/video-teams.md').flatMap(({ place, code }) =>
  [...code.matchAll(/--type (\S+) [^']*--params '([^']+)'/g)].map(
    ([, type, params = '']): Example => ({ place, type: type as Type, params: JSON.parse(params) }),
  ),
);

describe('the pages of video', () => {
  const examples = [...pages.flatMap(examplesOf), ...typed];

  it('have examples of each type', () => {
    expect(new Set(examples.map(({ type }) => type))).to.have.keys(Object.keys(parsers));
    expect(typed).to.have.length(2);
  });

  for (const { place, type, params } of examples) {
    it(`${place} is taken by ${type}, and by the schema of the type`, () => {
      parsers[type](params);
      const folder = type === 'ffmpeg.transcode' ? '.' : type.slice('ffmpeg.'.length);
      const file = join(root, 'examples/ffmpeg', folder, 'type.yaml');
      const { type: named, ...rest } = parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
      expect(named).to.equal(type);
      const { params_schema } = typeDefinition.parse(rest);
      const schema = new ParamsSchema(params_schema as object);
      expect(schema.errorsOf(JSON.stringify(params))).to.deep.equal([]);
      expect(
        schema.errorsOf(JSON.stringify({ ...(params as object), args: '-f' })),
      ).not.to.deep.equal([]);
    });
  }

  it('name profiles that are there', async () => {
    const profiles = await readProfiles(join(root, 'examples/ffmpeg/ladder/profiles.yaml'));
    expect([...profiles.keys()]).to.have.members(['default', 'class', 'film-hdr']);
  });
});
