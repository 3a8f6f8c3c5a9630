-- Tells up to which time a shard's log is complete, and how far it goes, at one moment.
--
-- KEYS  1 inbox  2 log
-- ARGV  1 the time in ms, or '' for TIME
-- Returns  {received ms of the oldest inbox entry, or the time where the inbox is empty;
--           index the log's next leaf will have}

local at = ARGV[1]
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if oldest then
  local fields = oldest[2]
  for i = 1, #fields, 2 do
    if fields[i] == 't' then
      at = fields[i + 1]
    end
  end
elseif at == '' then
  local time = redis.call('TIME')
  at = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
end
local index = 0
if redis.call('EXISTS', KEYS[2]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[2])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      index = tonumber(string.match(info[i + 1], '^(%d+)')) + 1
    end
  end
end
return {tonumber(at), index}
