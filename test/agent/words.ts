/** What a person types, and what the CLI then shows. */

/** "auto", the default mode, seldom asks. */
export const claude = "claude --permission-mode default";
export const permission = /Do you want to proceed/;
export const question = /Enter to select/;
