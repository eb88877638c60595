/** Roles, which English shows as they are, in Chinese: with the word that is typed in commands. */
export const zhRoles = {
  'role.read': '只读（read）',
  'role.submit': '提交（submit）',
  'role.operate': '运维（operate）',
  'role.admin': '管理员（admin）',
  'role.executor': '执行器（executor）',
};
