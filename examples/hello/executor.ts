/** Greets: the smallest executor. */
import { createExecutor } from '@soda-scheduler/executor-sdk';

await createExecutor({
  url: process.env['SODA_URL'] ?? 'http://127.0.0.1:18890',
  token: process.env['SODA_EXECUTOR_TOKEN'],
})
  .handle<{ name: string }>('hello', (task) => ({ greeting: `Hello, ${task.params.name}!` }))
  .start();
