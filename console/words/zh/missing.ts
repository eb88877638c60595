/** What is said where there is nothing of a name, in Chinese. */
import type { enMissing } from '../en/missing.ts';

export const zhMissing: Readonly<Record<keyof typeof enMissing, string>> = {
  'missing.task': '没有任务 {name}，或已不再保留。',
  'missing.operation': '没有批量操作 {name}，或已不再保留。',
  'missing.executor': '没有执行器 {name}，或已被遗忘。',
  'missing.booking': '没有预订 {name}，或已不再保留。',
  'missing.job': '没有作业 {name}。',
  'missing.type': '没有任何已知的类型 {name}。',
  'missing.limit': '没有共享限制 {name}。',
  'missing.calendar': '没有日历 {name}。',
  'missing.list': '查看列表：{list}',
};
