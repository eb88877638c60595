/** `soda history`: ended tasks taken out of a master, and looked for in what was taken out of it. */
import { Command } from 'commander';
import { exportCommand } from './export-command.ts';
import { searchCommand } from './search-command.ts';

export function historyCommand(): Command {
  return new Command('history')
    .description('Take ended tasks out of a master, and look for them in its archive.')
    .addCommand(exportCommand())
    .addCommand(searchCommand());
}
