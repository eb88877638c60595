/**
 * What the master has found, in Chinese: `found.say.` and a kind of `/health`, `advice.say.` what would help; `alert.say.` and a
 * kind of alert, `mend.say.` what would mend it. What is not here stays as the master has said it.
 */
export const zhFound = {
  'found.say.wait': '类型 {type} 有 {n} 个任务在等待。',
  'found.say.waits': '类型 {type} 有 {n} 个任务在等待，最早的已等 {waited}。',
  'found.say.paused.all': '{who}暂停了{what}{cause}，直到有人恢复。',
  'found.say.paused.all.until': '{who}暂停了{what}{cause}，到 {until} 为止。',
  'found.say.failing':
    '类型 {type} 最近 {outcomes} 次尝试有 {failed} 次失败，其中 {alike} 次为：{error}',
  'found.say.failing.alike': '类型 {type} 最近 {outcomes} 次尝试有 {failed} 次失败，都为：{error}',
  'found.say.callbacks':
    '最近 {outcomes} 次发送有 {failed} 次失败，其中 {alike} 次为：{error}（{pending} 个回调尚未送达）',
  'found.say.callbacks.failed':
    '最近 {outcomes} 次发送有 {failed} 次失败，其中 {alike} 次为：{error}',
  'found.say.callbacks.pending':
    '{pending} 个回调尚未送达：接收方处理得比任务结束得慢，或没有应答。',
  'found.say.queue_full': '提交被拒绝：{used} 个任务在等待或挂起，最多可保留 {max} 个。',
  'found.say.queue_full.own': '提交被拒绝：{used} 个任务在等待或挂起，而 max_waiting 为 {max}。',
  'found.say.store_away': '不接受、不启动、也不结束任何任务。存储报告：{error}',
  'found.say.starting': '正在读取存储中的内容。',
  'found.say.shutting_down': '它被要求停止。',
  'found.say.disk_low':
    '数据库所在磁盘剩余 {mib} MiB（{percent}%）。一旦写满，就不再接受、启动或结束任务。',
  'found.say.duty': '{duty} 失败。',
  'found.say.duty.error': '{duty} 失败：{error}',
  'found.say.duty.overdue': '{duty} 没有按时完成。',
  'advice.say.no_executor': '启动类型 {type} 的执行器。',
  'advice.say.labels_unmatched':
    '启动带有这些标签、类型 {type} 的执行器，或给 {nearest} 补上缺少的标签。',
  'advice.say.reserved': '启动一个没有保留、类型 {type} 的执行器。',
  'advice.say.reserved.booking': '等预订结束，或启动类型 {type} 的执行器。',
  'advice.say.draining': '让其中一个恢复工作，或启动类型 {type} 的执行器。',
  'advice.say.not_ready': '按 {executor} 报告的问题处理。',
  'advice.say.not_ready.disk': '清理 {executor} 的磁盘，或启动磁盘更大、类型 {type} 的执行器。',
  'advice.say.not_ready.disk.unknown':
    '给类型 {type} 的执行器设置 scratchDir：没有一个报告它有多少磁盘。',
  'advice.say.paused': '暂停的原因消除后，恢复它。',
  'advice.say.paused.all': '恢复{what}。',
  'advice.say.paused.all.until': '恢复{what}，或等到 {until}。',
  'advice.say.limited': '要运行更多就提高 {name}，否则等待。',
  'advice.say.all_busy': '等得太久就启动更多类型 {type} 的执行器，否则等待。',
  'advice.say.cooling_down': '查看拒绝它的执行器的日志。',
  'advice.say.failing': '查看这些错误，修复它们指出的问题。',
  'advice.say.failing.alike': '查看这个错误，修复它指出的问题。',
  'advice.say.callbacks': '查看这些回调的接收方；已放弃的可以重新发送。',
  'advice.say.callbacks.failed': '查看这些回调的接收方；已放弃的可以重新发送。',
  'advice.say.callbacks.pending': '查看这些回调的接收方；已放弃的可以重新发送。',
  'advice.say.queue_full': '启动执行器。',
  'advice.say.queue_full.own': '提高该命名空间的 max_waiting，或启动执行器。',
  'advice.say.store_away': '修复数据库或磁盘；执行器手上的任务会继续运行。',
  'advice.say.starting': '等几秒钟。',
  'advice.say.shutting_down': '如果下一个没有自动启动，就启动它。',
  'advice.say.disk_low': '腾出空间，或减少历史保留天数（SODA_RETENTION_DAYS）。',
  'advice.say.duty': '查看主节点的日志；docs/operations.md 说明了它的用途。',
  'advice.say.duty.error': '查看主节点的日志；docs/operations.md 说明了它的用途。',
  'advice.say.duty.overdue': '查看主节点的日志；docs/operations.md 说明了它的用途。',
  'alert.say.no_executor': '类型 {type}：{count} 个任务在等待（限值 {limit}）。',
  'alert.say.no_executor.since':
    '类型 {type}：{count} 个任务在等待，最早的已等 {waited}（限值 {limit}）。',
  'alert.say.oldest_wait': '类型 {type}：{count} 个任务在等待（限值 {limit}）。',
  'alert.say.oldest_wait.since':
    '类型 {type}：{count} 个任务在等待，最早的已等 {waited}（限值 {limit}）。',
  'alert.say.failure_share':
    '类型 {type} 最近 {count} 次尝试有 {failed} 次失败（限值 {limit}%）{because}。',
  'alert.say.running_long':
    '类型 {type} 的任务 {task_id} 在执行器 {executor_id} 上已运行 {ran}（限值 {limit}）。',
  'alert.say.running_long.usual':
    '类型 {type} 的任务 {task_id} 在执行器 {executor_id} 上已运行 {ran}（限值 {limit}，即同类第 95 百分位的 3 倍）。',
  'alert.say.started_late':
    '最近 {window}内，类型 {type} 有 {count} 个任务未按时开始，最后一个是 {task_id}（限值 {limit}）。',
  'alert.say.backlog': '类型 {type} 有 {count} 个任务在等待（限值 {limit}）。',
  'alert.say.callback_gave_up':
    '最近 {window}内放弃了 {count} 个发往 {origin} 的回调（限值 {limit}）{because}。',
  'alert.say.callback_backlog': '{count} 个回调等待发送（限值 {limit}）。',
  'alert.say.executor_flapping':
    '执行器 {executor_id} 在最近 {window}内连接了 {count} 次（限值 {limit}）。',
  'alert.say.executor_flapping.host':
    '最近 {window}内，主机 {host} 上有 {count} 个执行器启动后不到 {short} 就离开（限值 {limit}），每次的 ID 都不同。',
  'alert.say.executor_not_ready':
    '执行器 {executor_id} 未就绪已有 {lasts}（限值 {limit}）{because}。',
  'alert.say.booking_short':
    '预订 {booking}（类型 {type}，{from} 起）：{count} 个执行器中缺 {missing} 个。',
  'alert.say.booking_short.refused':
    '预订 {booking}（类型 {type}，{from} 起）：{count} 个执行器中缺 {missing} 个：{executor_id} 不接受其任务。',
  'alert.say.later': '，以及之后的 {n} 个时间窗',
  'alert.say.booking_at_risk.limit':
    '预订 {booking}（类型 {type}，{from} 起{others}）已无法满足：{of} 的 max_running 为 {max}。',
  'alert.say.booking_at_risk.capacity':
    '预订 {booking}（类型 {type}，{from} 起{others}）已无法满足：其类型的容量变小了。',
  'alert.say.booking_at_risk.executors':
    '预订 {booking}（类型 {type}，{from} 起{others}）已无法满足：有执行器离开了。',
  'alert.say.booking_paused': '预订 {booking}（类型 {type}，{from} 起）：它的任务被暂停阻挡。',
  'alert.say.poison': '类型 {type} 的任务 {task_id} 已失败 {failed} 次（限值 {limit}）{because}。',
  'alert.say.disk':
    '剩余 {gb} GB，{free_percent}%（限值 {limit}%）。一旦写满，就不再接受、启动或结束任务。',
  'alert.say.disk.unwritten':
    '曾剩余 {gb} GB，{free_percent}%（限值 {limit}%），有 {unwritten} 无法写入任何内容。',
  'mend.say.failure_share': '查看 soda task errors --type {type}{within}。',
  'mend.say.running_long':
    '查看 soda task why {task_id}{within}，或结束它：soda task cancel {task_id}{within}。',
  'mend.say.running_long.usual':
    '查看 soda task why {task_id}{within}，或结束它：soda task cancel {task_id}{within}。',
  'mend.say.started_late': '查看 soda task why {task_id}{within}。',
  'mend.say.backlog': '启动更多类型 {type} 的执行器，或减少提交。',
  'mend.say.callback_gave_up': '修复接收方，然后重新发送：soda task redeliver {task_id}{within}。',
  'mend.say.callback_backlog':
    '找出没有应答的接收方：soda task list --notification pending{within}。',
  'mend.say.executor_flapping':
    '查看它的日志，或让它停止工作：soda executor drain {executor_id}{within}。',
  'mend.say.executor_flapping.host': '查看其日志的最后几行，以及是什么在反复启动它。',
  'mend.say.executor_not_ready':
    '按它报告的问题处理，或让它停止工作：soda executor drain {executor_id}{within}。',
  'mend.say.booking_short': '启动更多类型 {type} 的执行器，或结束在那里运行的任务。',
  'mend.say.booking_short.refused':
    '查看原因：soda booking get {booking}{within}；或启动另一个类型 {type} 的执行器来替换它。',
  'mend.say.booking_at_risk.limit':
    '在此之前提高 {of} 的 max_running，或取消它：soda booking cancel {booking}{within}。',
  'mend.say.booking_at_risk.capacity':
    '在此之前提高类型 {type} 的容量，或取消它：soda booking cancel {booking}{within}。',
  'mend.say.booking_at_risk.executors':
    '在此之前启动更多类型 {type} 的执行器，或取消它：soda booking cancel {booking}{within}。',
  'mend.say.booking_paused': '结束暂停：soda pause list{within} 会显示它。',
  'mend.say.poison':
    '先搁置：soda task suspend {task_id}{within}；或结束它：soda task cancel {task_id}{within}。',
  'mend.say.disk': '腾出一些空间，或减少保留：SODA_RETENTION_DAYS、SODA_EVENT_DAYS。',
  'mend.say.disk.unwritten': '腾出一些空间，或减少保留：SODA_RETENTION_DAYS、SODA_EVENT_DAYS。',
};
