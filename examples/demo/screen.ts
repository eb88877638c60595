/** What the demo shows: aligned lines, and a bar on a terminal or plain lines elsewhere. */
import { relative } from 'node:path';
import { Presets, SingleBar } from 'cli-progress';

const terminal = process.stdout.isTTY;
const style = (code: string) => (text: string) => (terminal ? `\x1b[${code}m${text}\x1b[0m` : text);

export const bold = style('1');
export const dim = style('2');
const green = style('32');
const red = style('31');

const VALUE_WIDTH = 24;

export function say(text = ''): void {
  process.stdout.write(text === '' ? '\n' : `  ${text}\n`);
}

/** Something that is up, or came out well. */
export function done(what: string, value: string, remark = ''): void {
  const line = remark === '' ? value : `${value.padEnd(VALUE_WIDTH)}  ${dim(remark)}`;
  say(`${green('✔')} ${what.padEnd(9)} ${line}`);
}

export function complain(text: string): void {
  process.stderr.write(`\n${text.replace(/^/gm, '  ').replace('  ', `  ${red('✖')} `)}\n\n`);
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** As short as it can be copied from here. */
export function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

export interface ProgressLine {
  show(percent: number, note: string): void;
  end(): void;
}

export function progressLine(): ProgressLine {
  return terminal ? progressBar() : progressText();
}

function progressBar(): ProgressLine {
  const format = `  {bar} {percentage} %  ${dim('{note}')}`;
  const bar = new SingleBar(
    {
      ...{ format, stream: process.stdout, barsize: 30, fps: 20 },
      ...{ hideCursor: true, clearOnComplete: true },
    },
    Presets.rect,
  );
  bar.start(100, 0, { note: '' });
  return {
    show: (percent, note) => bar.update(Math.round(percent), { note }),
    end: () => bar.stop(),
  };
}

/** A line at every tenth. */
function progressText(): ProgressLine {
  let shown = -10;
  return {
    show(percent, note) {
      if (percent < shown + 10) return;
      shown = percent - (percent % 10);
      say(`${String(Math.round(percent)).padStart(3)} %  ${note}`);
    },
    end() {},
  };
}
