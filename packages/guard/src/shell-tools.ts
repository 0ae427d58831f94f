/** The tools of all hosts that run a command, be it in the background (Monitor). */
export const shellTools =
  /^(bash|shell|shell_command|run_shell_command|local_shell|exec_command|execute_command|run_command|monitor|powershell)$/i;
