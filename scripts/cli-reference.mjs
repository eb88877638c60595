/**
 * `npm run docs`: writes docs/cli-reference.md from the commands themselves, so that the page and
 * `--help` cannot say different things. A test compares them.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { program } from '../cli/dist/program.js';

const PAGE = fileURLToPath(new URL('../docs/cli-reference.md', import.meta.url));
const HEAD = `# Every \`soda\` command

Written by \`npm run docs\` from what \`--help\` says. How output, tokens and exit codes work:
[The \`soda\` command](cli.md). The settings of \`soda master\` and \`soda dev\`, which are flags too:
[Configuration](configuration.md).
`;

function commandsOf(command, path) {
  const children = command.commands.flatMap((child) =>
    commandsOf(child, `${path} ${child.name()}`),
  );
  return children.length > 0 ? children : [{ command, path }];
}

function sectionOf({ command, path }) {
  const given = command.registeredArguments.map(written);
  const lines = [`## \`${[path, ...given].join(' ')}\``, '', command.description(), ''];
  const rows = [
    ...command.registeredArguments.map((each) => [written(each), each.description]),
    ...command.options.map((option) => [option.flags, meaningOf(option)]),
  ];
  if (rows.length > 0) {
    lines.push('| option | meaning |', '| --- | --- |');
    for (const [flags, meaning] of rows) lines.push(`| \`${cell(flags)}\` | ${cell(meaning)} |`);
  }
  return lines.join('\n');
}

/** As in the usage that --help prints. */
function written(argument) {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** A bar would end the cell, also within code. */
function cell(text) {
  return text.replaceAll('|', '\\|');
}

function meaningOf({ description, argChoices, defaultValue, envVar }) {
  const notes = [
    argChoices === undefined ? '' : argChoices.join(', '),
    defaultValue === undefined ? '' : `default: ${defaultValue}`,
    envVar ?? '',
  ].filter((note) => note !== '');
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

const sections = commandsOf(program(), 'soda').map(sectionOf);
export const page = `${[HEAD.trimEnd(), ...sections].map((part) => part.trimEnd()).join('\n\n')}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, page);
