/** How much text one webhook carries: enough for every request that beckon shows in full. */
export const maxTextBytes = 32_768;
