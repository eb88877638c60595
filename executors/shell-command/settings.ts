/** What an operator lets `shell.command` do. */
import { access, constants, stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import { z } from 'zod';

const absolute = z.string().refine(isAbsolute, { error: 'expected an absolute path' });
const pattern = z.string().refine(isPattern, { error: 'expected a regular expression' });

const program = z.union([
  absolute.transform((path) => ({ path, args: null })),
  z.strictObject({ path: absolute, args: z.array(pattern).min(1).nullable().default(null) }),
]);

export const commandSettings = z.strictObject({
  /** Where programs run: `cwd` of a task is inside it. */
  root: absolute,
  programs: z.array(program).min(1),
  /** Variables of this process that programs get too. */
  pass_env: z.array(z.string()).default([]),
  /** Variables that a task may set. */
  task_env: z.array(z.string()).default([]),
  output_bytes_max: z
    .int()
    .min(1024)
    .default(64 * 1024 * 1024),
});

export type CommandSettings = z.output<typeof commandSettings>;
export type AllowedProgram = CommandSettings['programs'][number];

/** What of them cannot work, and what is dangerous about them. */
export async function lookAtCommand(
  settings: CommandSettings,
): Promise<{ readonly problems: string[]; readonly warnings: string[] }> {
  const problems: string[] = [];
  const warnings = settings.task_env
    .filter((name) => STEERS_PROGRAMS.test(name))
    .map(
      (name) => `task_env: ${name} decides what programs load or start: so do tasks that set it`,
    );
  const root = await stat(settings.root).catch(() => null);
  if (!root?.isDirectory()) problems.push(`root: ${settings.root} is no directory`);
  for (const { path, args } of settings.programs) {
    const found = await stat(path).catch(() => null);
    const isProgram = await access(path, constants.X_OK).then(
      () => found?.isFile() === true,
      () => false,
    );
    if (!isProgram) problems.push(`programs: ${path} is no program that this user may run`);
    else if ((Number(found?.mode) & 0o002) !== 0) {
      problems.push(`programs: ${path} may be written by everybody`);
    }
    if (args === null && RUNS_ANYTHING.test(basename(path))) {
      warnings.push(
        `programs: ${path} runs whatever its arguments say: whoever may submit tasks may run anything here`,
      );
    }
    warnings.push(...(args ?? []).flatMap((one) => warningsOf(path, one)));
  }
  return { problems, warnings };
}

/** What somebody would try, by what it is. */
const PROBES: readonly (readonly [argument: string, what: string])[] = [
  ['--x', 'options'],
  ['/x', 'absolute paths'],
  ['../x', 'paths that climb'],
  ['x/../../x', 'paths that climb'],
];

function warningsOf(path: string, pattern: string): string[] {
  const one = wholePattern(pattern);
  const found = PROBES.filter(([argument]) => one.test(argument));
  if (found.length === 0) return [];
  const what = [...new Set(found.map(([, name]) => name))].join(', ');
  return [`programs: ${path} takes ${what} by the pattern ${pattern}: tasks choose them`];
}

/** What an argument has to match, as a whole. */
export function wholePattern(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, 'su');
}

/** Of the loader, shells, interpreters and git, and where programs are looked for. */
const STEERS_PROGRAMS =
  /^(?:LD_|DYLD_|GIT_|PATH$|HOME$|ENV$|BASH_ENV$|IFS$|NODE_OPTIONS$|NODE_PATH$|PYTHON|PERL5|RUBY|JAVA_TOOL_OPTIONS$|EDITOR$|PAGER$)/;

/** Shells, interpreters, and what starts other programs. */
const RUNS_ANYTHING =
  /^(?:(?:ba|da|z|k|c|fi)?sh|busybox|env|xargs|find|sudo|su|nice|nohup|timeout|setsid|watch|ssh|docker|podman|python[\d.]*|perl|ruby|php|node|deno|bun|lua|awk|gawk|mawk|make|git|tar)$/;

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
