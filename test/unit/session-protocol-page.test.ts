/** `docs/protocol.md` against the code: fields, close codes, limits, and its transcript replayed. */
import { readFileSync } from 'node:fs';
import {
  CloseCode,
  DEFAULT_PORT,
  EXECUTOR_PATH,
  SESSION_LIMITS,
  SUBPROTOCOL,
  Session,
  isFinalClose,
} from '@soda-scheduler/protocol';
import {
  decodeFrame,
  executorFrame,
  helloFrame,
  masterFrame,
} from '@soda-scheduler/protocol/schemas';
import { expect } from 'chai';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

/** The text from this heading to the next of its rank or above. */
function section(heading: string): string {
  const start = page.indexOf(`\n${heading}\n`);
  expect(start, `a section "${heading}"`).to.be.above(-1);
  const rank = heading.split(' ', 1)[0]!.length;
  const rest = page.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${rank}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

/** First cells of the rows of the first table under a heading, without their backticks. */
function fields(text: string): string[] {
  const table = text.slice(text.indexOf('| field |')).split('\n\n', 1)[0]!;
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]!);
}

describe('docs/protocol.md', () => {
  const sides = [
    ['executor', [helloFrame, ...executorFrame.options]],
    ['master', masterFrame.options],
  ] as const;
  for (const [side, schemas] of sides) {
    for (const schema of schemas) {
      const name = schema.shape.type.value;
      it(`lists the fields of ${name}, from the ${side}`, () => {
        const isShared = name === 'heartbeat' || name === 'ack';
        const text = section(`#### \`${name}\`${isShared ? ` (${side})` : ''}`);
        const omitted = isShared ? ['type'] : ['type', 'seq', 'ack'];
        const expected = Object.keys(schema.shape).filter((field) => !omitted.includes(field));
        expect(fields(text)).to.have.members(expected);
        for (const field of expected) {
          const row = new RegExp(`^\\| \`${field}\` \\|.*$`, 'm').exec(text)![0];
          const schemaOf: Record<string, { safeParse: (value: unknown) => { success: boolean } }> =
            schema.shape;
          const mayBeLeftOut = schemaOf[field]!.safeParse(undefined).success;
          expect(row.includes('optional'), row).to.equal(mayBeLeftOut);
        }
      });
    }
  }

  it('lists the fields of a task, and of the limits', () => {
    const assign = masterFrame.options.find(({ shape }) => shape.type.value === 'assign')!;
    const welcome = masterFrame.options.find(({ shape }) => shape.type.value === 'welcome')!;
    if (!('task' in assign.shape) || !('limits' in welcome.shape)) return expect.fail();
    const rows = section('#### `assign`').split('| in `task` |')[1]!;
    const listed = [...rows.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]!);
    expect(listed).to.have.members(Object.keys(assign.shape.task.shape));
    for (const limit of Object.keys(welcome.shape.limits.shape)) {
      expect(section('#### `welcome`')).to.contain(`\`${limit}\``);
    }
  });

  it('has the close codes, and says which are final', () => {
    const rows = [...section('## 8. Close codes').matchAll(/^\| (\d+) \| (\w+) \|(.*)$/gm)];
    expect(Object.fromEntries(rows.map((row) => [row[2], Number(row[1])]))).to.deep.equal({
      ...CloseCode,
    });
    for (const [, code, , rest] of rows) {
      expect(rest!.includes('final'), code).to.equal(isFinalClose(Number(code)));
    }
  });

  it('has the limits and addresses of the code', () => {
    expect(page).to.contain(`(${SESSION_LIMITS.unackedFramesMax}) frames`);
    expect(page).to.contain(`(${SESSION_LIMITS.unackedBytesMax / 2 ** 20} MiB)`);
    expect(page).to.contain(`(${SESSION_LIMITS.frameBytesMax / 2 ** 20} MiB)`);
    expect(page).to.contain(`within ${SESSION_LIMITS.handshakeTimeoutMs / 1000} s`);
    expect(page).to.contain(SUBPROTOCOL).and.contain(EXECUTOR_PATH).and.contain(`${DEFAULT_PORT}`);
  });

  it('has a transcript that both ends would have spoken', () => {
    const [, transcript = ''] = /```transcript\n([\s\S]*?)```/.exec(page) ?? [];
    const ends = { '>': new Session<string>(), '<': new Session<string>() };
    let wasHello = false;
    let frameCount = 0;
    for (const line of transcript.trim().split('\n')) {
      const [direction] = line;
      if (direction !== '>' && direction !== '<') continue;
      const [from, to] = direction === '>' ? [ends['>'], ends['<']] : [ends['<'], ends['>']];
      const text = line.slice(2);
      const hello = decodeFrame(helloFrame, text);
      const other = decodeFrame(direction === '>' ? executorFrame : masterFrame, text);
      const frame = 'frame' in hello ? hello.frame : 'frame' in other ? other.frame : null;
      expect(frame, `${JSON.stringify(other)} in ${line}`).not.to.equal(null);
      expect(wasHello, line).to.equal(frame!.type === 'welcome');
      wasHello = frame!.type === 'hello';
      frameCount += 1;

      if (frame!.type === 'hello' || frame!.type === 'welcome') {
        expect(from.received, `received in ${line}`).to.equal(frame.received);
        expect(to.resume(frame.received), `nothing to resend: ${line}`).to.deep.equal([]);
      } else if ('seq' in frame!) {
        expect(from.send(text, text.length)?.seq, line).to.equal(frame.seq);
        // Everything is handled at once but what the transcript has not acknowledged yet.
        expect(to.receive(frame.seq, frame.ack), line).to.equal('deliver');
        expect(frame.ack, line).to.be.at.most(from.received);
      } else if ('ack' in frame!) {
        expect(to.acknowledged(frame.ack), line).to.equal(true);
        expect(frame.ack, line).to.be.at.most(from.received);
      }
    }
    expect(frameCount).to.be.above(20);
    for (const end of Object.values(ends))
      expect(end.unacked(), 'all is acknowledged').to.deep.equal([]);
  });
});
