-- Returns up to which time a shard's log is complete, and how far it goes, at one moment.
--
-- KEYS  1 inbox  2 log
-- ARGV  1 the time in ms, or '' for TIME
-- Returns  {received ms of the oldest inbox entry, or the time if the inbox is empty;
--           index the log's next leaf will have}

local at = time_ms(ARGV[1])
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if oldest then
  local fields = oldest[2]
  for i = 1, #fields, 2 do
    if fields[i] == 't' then
      at = fields[i + 1]
    end
  end
end
return {tonumber(at), next_index(KEYS[2])}
