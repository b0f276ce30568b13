/** The headers of a browser that opens an address it got from another program, such as beckon's page. */
export const navigation = {
  "sec-fetch-site": "none",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};
