/**
 * What the master says in English sentences, in Chinese: a name is `why.say.` and a reason, or `change.say.` and what
 * is to be done. What is not here stays as the master has said it.
 */
export const zhWhy = {
  'why.say.not_due': '定于 {until} 运行。',
  'why.say.backing_off': '第 {attempt} 次尝试没有成功，{until} 重试。',
  'why.say.paused': '{what}暂停启动，直到有人恢复{cause}。',
  'why.say.paused.until': '{what}暂停启动，到 {until} 为止{cause}。',
  'why.say.no_executor': '没有可运行此类型任务的执行器连接。',
  'why.say.labels_unmatched':
    '{of_type} 个执行器可运行此类型，但没有一个具备所需标签。最接近的是 {nearest}，缺少 {lacks}。',
  'why.say.reserved':
    '{of_type} 个执行器可运行此类型，但都为别的任务保留。最接近的是 {nearest}，只接受带有 {reserved} 的任务。',
  'why.say.not_ready': '{executor} 报告：{error}。',
  'why.say.not_ready.disk': '任务需要 {mb} MB 空闲磁盘，合适的执行器都不够；{executor} 最多。',
  'why.say.draining': '{fitting} 个合适的执行器，全部在排空。',
  'why.say.all_busy': '{able} 个合适的执行器，都在运行别的任务。',
  'why.say.all_busy.order': '有 {free} 个合适的执行器空闲，但前面的任务更多。',
  'why.say.kept':
    '路由把它留给执行器 {executor}（正忙），到 {until} 为止；之后任何执行器都可以运行。',
  'why.say.cooling_down': '空闲的执行器刚刚拒绝了它，{until} 再派发。',
  'why.say.limited': '{name}：已用 {used}，上限 {max}。',
  'why.say.held':
    '{pointer} 为 {value} 的任务同时最多运行 {max} 个（limits.concurrency），前面还有 {first} 个。',
  'change.say.wait_until': '等到 {until}。',
  'change.say.resume': '恢复{what}。',
  'change.say.raise_limit': '把{what}的 {limit} 提高到 {value}。',
  'change.say.start_executor': '启动执行器：{n} 个，类型 {type}{having}。',
  'change.say.start_executor.one': '启动执行器 {executor}，类型 {type}{having}。',
  'change.say.add_label': '给执行器 {name} 加上标签 {lacks}。',
  'change.say.undrain': '让已排空的执行器 {name} 恢复工作。',
  'scope.task': '此任务',
  'scope.all': '所有命名空间',
  'scope.namespace': '该命名空间',
  'scope.type': '类型 {name} ',
  'scope.group': '分组 {name} ',
  'scope.label': '标签 {name} ',
  'scope.limit': '共享限制 {name} ',
};
